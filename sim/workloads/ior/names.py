"""The names of the files of an IOR test."""

from __future__ import annotations

from pathlib import PurePosixPath

from sim.workloads.ior.parameters import IorTest


def file_name(test: IorTest, index: int, repetition: int) -> str:
    """Name a file as IOR does.

    Parameters
    ----------
    test
        The test; ``-o -F -u -m`` matter.
    index
        The file, from :func:`~sim.workloads.ior.pattern.file_indices`.
    repetition
        Counted from 0; part of the name with ``-m``.

    Returns
    -------
    str
        ``<-o>``, with ``-F`` ``<-o>.%08d``, with ``-u`` in a directory named after the index.
    """
    roots = [root for root in test.test_file.split("@") if root] or [test.test_file]
    name = roots[index % len(roots)] if test.file_per_process else roots[0]
    if test.file_per_process:
        if test.unique_directory:
            path = PurePosixPath(name)
            name = str(path.parent / str(index) / path.name)
        name = f"{name}.{index:08d}"
    if test.file_per_repetition:
        name = f"{name}.{repetition}"
    return name
