"""A program that jobs run, as a record: what its doors ask, before anything of it is imported.

How it is asked for in a scenario stands in :class:`~xc40io.config.asked_workload.Workload`; which
there are, in :mod:`xc40io.workloads.catalogue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xc40io.config.places import found_at


class Program(NamedTuple):
    """A program. What stands elsewhere is given by its place: ``module:name``."""

    name: str  # in scenarios; also of its command
    title: str  # what a person calls it
    # what makes its :class:`~xc40io.workloads.workload.Workload` of what a scenario has for it
    home: str
    summary: str = ""  # its line in the list of commands
    # what its command says of itself, if all that it takes stands behind a double dash
    help: str = ""
    example: str = ""  # of the words behind it
    letter: str = ""  # one of its options
    in_mebibytes: bool = False  # whether it writes rates in MiB/s
    outcome: str = ""  # the module of the records that it alone leaves in a result
    # what sets one of its options: a function of what a scenario has, the name and the value
    option: str = ""
    switches: Mapping[str, str] = {}  # the options that studies turn, by what they are called there

    @property
    def make(self) -> Any:
        """What makes its workload."""
        return found_at(self.home)

    @property
    def with_option(self) -> Any:
        """What sets one of its options."""
        return found_at(self.option)
