"""How the programs name many files of one shape: worked out when somebody asks for a name."""

from __future__ import annotations

from typing import NamedTuple

from xc40io.config.kept import kept


@kept
class NamesOfRanks(NamedTuple):
    """The names of IOR with a file for each rank (ior.c, GetTestFileName).

    In ``data/file`` those are ``data/file.00000003``, with a directory for each
    ``data/3/file.00000003``.
    """

    roots: tuple[str, ...]  # what ``-o`` names: the files take turns
    own_directories: bool  # each file in a directory with its number (``-u``)
    suffix: str  # behind the number: that of the repetition, with its dot

    def name(self, index: int) -> str:
        """Return the name of a file, counted from 0."""
        root = self.roots[index % len(self.roots)]
        if self.own_directories:
            folder, slash, file = root.rpartition("/")
            root = f"{folder}{slash}{index}/{file}"
        return f"{root}.{index:08d}{self.suffix}"


@kept
class NamesOfTrees(NamedTuple):
    """The names of mdtest's files: ``test-dir.0-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.3.5``.

    The files come by their ranks, and those of a rank directory after directory.
    """

    folders: tuple[
        str, ...
    ]  # of the ranks in turn: the test directories, without the loop's number
    ranks: int  # that take part
    each: int  # files of a rank in each directory
    first_directory: int  # that holds files: directories of a tree are numbered level after level
    directories: int  # that hold files
    loops: int  # test directories, one after the other
    branches: int  # of each directory
    own_trees: bool  # whether each rank has a tree
    stride: int  # by how many ranks further on the tree of a rank's files is
    shared: bool  # whether the files are one rank's, and all use them

    def name(self, index: int, kind: str = "file") -> str:
        """Return the name of an item, counted from 0: of a file, or of a directory (``dir``)."""
        rank, item = divmod(index, self.each * self.directories * self.loops)
        loop, item = divmod(item, self.each * self.directories)
        item += self.first_directory * self.each
        tree = (rank + self.stride) % self.ranks if self.own_trees else 0
        owner = "shared" if self.shared else str(rank)
        return f"{self.directory(tree, item // self.each, loop)}/{kind}.mdtest.{owner}.{item}"

    def directory(self, tree: int, number: int, loop: int) -> str:
        """Return the name of a directory of a tree: of the one of all, 0, or of a rank's."""
        stem, path = f"mdtest_tree.{tree}" if self.own_trees else "mdtest_tree", ""
        while number:
            path = f"/{stem}.{number}{path}"
            number = (number - 1) // self.branches
        return f"{self.folders[tree % len(self.folders)]}-{loop}/{stem}.0{path}"
