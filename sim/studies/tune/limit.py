"""Limits of what settings may take: nodes, files, OSTs of a file, memory for collective buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.config.scenario import Scenario
from sim.config.units import is_count, parse_bytes
from sim.studies.tune.aggregation_knobs import AGGREGATORS, aggregators_of
from sim.studies.tune.job_nature import JobNature
from sim.studies.tune.knob import Setting
from sim.studies.tune.striping_knobs import stripe_count_of, stripe_size_of
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior

NAMES: Mapping[str, str] = {
    "nodes": "compute nodes of the job",
    "files": "files of the job",
    "osts": "OSTs of a file",
    "memory": "bytes of a node that the collective buffers of its aggregators take",
}
"""What can be limited, and what each is."""


@dataclass(frozen=True)
class Limit:
    """The most of something that a setting may take.

    Attributes
    ----------
    name
        One of :data:`NAMES`.
    most
        A number, or bytes.
    """

    name: str
    most: int

    def allows(self, nature: JobNature, setting: Setting, scenario: Scenario) -> bool:
        """Tell whether a setting keeps to it.

        Parameters
        ----------
        nature
            What the job is.
        setting, scenario
            The values of the knobs, and the scenario with them.
        """
        return _TAKEN[self.name](nature, setting, scenario) <= self.most


def parse_limits(texts: Iterable[str]) -> tuple[Limit, ...]:
    """Read limits as they are typed, ``NAME=MOST``: ``nodes=512``, ``memory=2GiB``.

    Raises
    ------
    InputError
        If one is not of this form, is given twice, or there is no such thing to limit.
    """
    limits: dict[str, Limit] = {}
    for text in texts:
        name, equals, most = (part.strip() for part in text.partition("="))
        if not equals or name not in NAMES:
            raise InputError(
                f"--at-most {text}: right would be NAME=MOST with one of {', '.join(NAMES)}"
                f"{nearest(name, NAMES)}"
            )
        if name in limits:
            raise InputError(f"--at-most {name}: given twice; once is right")
        limits[name] = Limit(name, _number(name, most))
    return tuple(limits.values())


def _number(name: str, text: str) -> int:
    if name == "memory":
        try:
            return parse_bytes(text)
        except InputError as error:
            raise InputError(f"--at-most {name}={text}: {error}") from error
    if not is_count(text) or int(text) < 1:
        raise InputError(f"--at-most {name}={text}: right would be a whole number, 1 or more")
    return int(text)


def _nodes(_nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    return scenario.nodes


def _files(_nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    """Return how many files IOR makes; of what does not tell, one."""
    workload = workload_of(scenario.workload)
    if not isinstance(workload, Ior):
        return 1
    ranks = scenario.nodes * scenario.ppn
    return max(ranks if test.file_per_process else 1 for test in workload.command.tests)


def _osts(nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    count = scenario.striping.count or stripe_count_of(nature) or 0
    return nature.machine.lustre.osts if count == -1 else count


def _memory(nature: JobNature, setting: Setting, scenario: Scenario) -> int:
    """Return the bytes of the collective buffers on the node that has most of them."""
    if not nature.collective:
        return 0
    buffer = scenario.striping.size or stripe_size_of(nature) or 0
    if nature.machine.mpi.library == "romio":
        buffer = int(nature.hints.get("cb_buffer_size", 0)) or _ROMIO_BUFFER
    aggregators = aggregators_of(nature, scenario, setting.get(AGGREGATORS))
    return -(-aggregators // scenario.nodes) * buffer


_ROMIO_BUFFER = 16 << 20
"""ROMIO's default of ``cb_buffer_size``."""

_TAKEN: Mapping[str, Callable[[JobNature, Setting, Scenario], int]] = {
    "nodes": _nodes,
    "files": _files,
    "osts": _osts,
    "memory": _memory,
}
