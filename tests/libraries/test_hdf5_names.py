"""The B-tree of a group's names, and where its nodes lie, as HDF5 1.10.8 wrote them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.libraries.hdf5_cache import MetadataCache
from xc40io.libraries.hdf5_names import TREE_NODE, NameTree, Symbols, TreeNode
from xc40io.libraries.hdf5_space import FileSpace


def entered(names: list[str]) -> tuple[NameTree, MetadataCache]:
    """Return the tree of a group whose names came in this order."""
    space, cache = FileSpace(end=96), MetadataCache()
    tree = NameTree.create(space, cache)
    for name in names:
        tree.enter(name, space, cache)
    return tree, cache


def symbols(node: TreeNode | Symbols) -> list[Symbols]:
    """Return the symbol nodes below a node, from left to right."""
    if isinstance(node, Symbols):
        return [node]
    return [one for child in node.children for one in symbols(child)]


def test_the_root_is_split_by_the_thirty_third_symbol_node() -> None:
    """Of names that come in order the nodes keep four; the first eight are one node."""
    names = [f"Dataset-0000.{number:04d}" for number in range(133)]
    tree, _ = entered(names[:-1])
    assert len(tree.root.children) == 32
    assert tree.path(names[0])[0].address == 96
    tree, cache = entered(names)
    left, right = tree.root.children
    assert (tree.root.address, [len(half.children) for half in (left, right)]) == (96, [28, 5])
    # The right half is allocated first; the root is used behind the left half, before the right.
    assert right.address < left.address
    order = cache.flush(1).offset.tolist()
    assert order[-3:] == [left.address, 96, right.address]
    assert [entry.size for entry in tree.path(names[-1])] == [TREE_NODE, TREE_NODE, 328]


def test_a_tenth_step_goes_behind_the_first_one() -> None:
    """`Timestep_10` goes to the node of the names before `Timestep_2`, which has room for it."""
    tree, _ = entered([f"Timestep_{number}" for number in range(11)])
    nodes = symbols(tree.root)
    assert [node.names[0] for node in nodes] == ["Timestep_0", "Timestep_4"]
    assert nodes[0].names[:3] == ["Timestep_0", "Timestep_1", "Timestep_10"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ab01", min_size=1, max_size=6), unique=True, min_size=1, max_size=600))
def test_names_are_in_order_and_found_however_they_came(names: list[str]) -> None:
    tree, _ = entered(names)
    found = symbols(tree.root)
    assert [name for node in found for name in node.names] == sorted(names)
    assert max(len(node.names) for node in found) <= 8
    places = {name: node.address for node in found for name in node.names}
    assert all(tree.path(name)[-1].address == places[name] for name in names)
    assert len({len(tree.path(name)) for name in names}) == 1
