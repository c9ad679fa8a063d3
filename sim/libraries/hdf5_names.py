"""The B-tree in which the names of an HDF5 group are found.

Its leaves are symbol nodes of up to eight names, in the order of the alphabet. One that is full
keeps half of its names and leaves the others to a new one behind it; so does a node of the tree,
which keeps nine tenths if nothing comes behind it, one tenth if nothing comes before it. A root
that is split moves elsewhere, and the new root takes its place. (HDF5 1.10: H5B.c, H5Gnode.c.)
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from xc40io.libraries.hdf5_cache import Entry, MetadataCache
from xc40io.libraries.hdf5_space import FileSpace

TREE_NODE = 544
"""Bytes of a node of the tree."""

_CHILDREN = 32
_SYMBOL_NODE = 328
_SYMBOLS = 8


@dataclass(eq=False)
class Symbols:
    """A symbol node: where it is, and its names in order."""

    address: int
    names: list[str]

    @property
    def greatest(self) -> str:
        """The last of its names."""
        return self.names[-1]


@dataclass(eq=False)
class TreeNode:
    """A node of the tree: where it is, what is below it, and its neighbours of the same level."""

    address: int
    children: list[Symbols | TreeNode] = field(default_factory=list)
    left: TreeNode | None = None
    right: TreeNode | None = None

    @property
    def greatest(self) -> str:
        """The last of the names below it."""
        return self.children[-1].greatest

    def child_of(self, name: str) -> int:
        """Return which of the children has a name, or would have it."""
        at = len(self.children) - 1
        while at and name <= self.children[at - 1].greatest:
            at -= 1
        return at


class _Entered(NamedTuple):
    """What became of a part of the tree with one more name."""

    changed: bool  # whether it is to be written
    greater: bool  # whether its greatest name is another
    right: Symbols | TreeNode | None = None  # what was split off it


@dataclass(eq=False)
class NameTree:
    """The tree of one group, in a file."""

    root: TreeNode

    @staticmethod
    def create(space: FileSpace, cache: MetadataCache) -> NameTree:
        """Make the tree of a group without names."""
        return NameTree(TreeNode(cache.insert(space.metadata(TREE_NODE), TREE_NODE).address))

    def enter(self, name: str, space: FileSpace, cache: MetadataCache) -> None:
        """Enter a name that is not there yet."""
        root = self.root
        entered = self._enter(root, name, space, cache)
        if not isinstance(entered.right, TreeNode):
            _release(root, entered.changed, cache)
            return
        old, right = _new_node(space, cache), entered.right
        old.children, old.right, right.left = root.children, right, old
        root.children, root.right = [old, right], None
        for node in (root, right):
            cache.touch(node.address)

    def path(self, name: str) -> list[Entry]:
        """Return what is read to find a name: nodes from the root on, and the symbol node."""
        nodes, node = list[Entry](), self.root
        while True:
            nodes.append(Entry(node.address, TREE_NODE))
            child = node.children[node.child_of(name)]
            if isinstance(child, Symbols):
                return [*nodes, Entry(child.address, _SYMBOL_NODE)]
            node = child

    def _enter(self, node: TreeNode, name: str, space: FileSpace, cache: MetadataCache) -> _Entered:
        """Enter a name below a node, which the caller looks at last."""
        if not node.children:
            node.children.append(_new_symbols([name], space, cache))
            return _Entered(changed=True, greater=True)
        at = node.child_of(name)
        child = node.children[at]
        if isinstance(child, Symbols):
            entered = _enter_symbol(child, name, space, cache)
        else:
            entered = self._enter(child, name, space, cache)
        split = None
        if entered.right is not None:
            if len(node.children) == _CHILDREN:
                split = _split(node, space, cache)
            place, behind = node, at + 1
            if split is not None and at >= len(node.children):
                place, behind = split, behind - len(node.children)
            place.children.insert(behind, entered.right)
        if isinstance(child, TreeNode):
            _release(child, entered.changed, cache)
            if entered.right is not None:
                cache.touch(entered.right.address)
        changed = entered.greater or entered.right is not None
        return _Entered(changed, entered.greater and name == node.greatest, split)


def _enter_symbol(node: Symbols, name: str, space: FileSpace, cache: MetadataCache) -> _Entered:
    """Enter a name into a symbol node; if that is full, it is split before."""
    at, half = bisect_left(node.names, name), _SYMBOLS // 2
    greater, right, into = at == len(node.names), None, node
    if len(node.names) == _SYMBOLS:
        right = _new_symbols(node.names[half:], space, cache)
        del node.names[half:]
        if at > half:
            into, at = right, at - half
        cache.touch(right.address)
    into.names.insert(at, name)
    cache.touch(node.address)
    return _Entered(changed=True, greater=greater, right=right)


def _split(node: TreeNode, space: FileSpace, cache: MetadataCache) -> TreeNode:
    """Split a full node; return the new one behind it."""
    keep = _CHILDREN // 2
    if node.right is None:
        keep = _CHILDREN * 9 // 10
    elif node.left is None:
        keep = _CHILDREN // 10
    right = _new_node(space, cache)
    right.children, right.left, right.right = node.children[keep:], node, node.right
    del node.children[keep:]
    if node.right is not None:
        node.right.left = right
        cache.touch(node.right.address)
    node.right = right
    return right


def _new_node(space: FileSpace, cache: MetadataCache) -> TreeNode:
    return TreeNode(cache.insert(space.metadata(TREE_NODE), TREE_NODE).address)


def _new_symbols(names: list[str], space: FileSpace, cache: MetadataCache) -> Symbols:
    return Symbols(cache.insert(space.metadata(_SYMBOL_NODE), _SYMBOL_NODE).address, names)


def _release(node: TreeNode, changed: bool, cache: MetadataCache) -> None:
    """Note that a node was looked at, and perhaps changed."""
    (cache.touch if changed else cache.use)(node.address)
