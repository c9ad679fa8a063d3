"""The description of one simulated run: which machine, how many nodes, what workload.

A scenario file (``configs/scenarios/*.yaml``) holds what would otherwise be typed on the command
line, and may change the machine for a what-if study::

    machine: theta
    changes: {lustre.osts: 112}
    nodes: 256
    ppn: 16
    striping: {count: 48, size: 8m}
    workload: {ior: -a POSIX -w -r -e -b 8m -t 8m}

or, for a workload that is no IOR command, and with what MPI-IO finds in its environment::

    environment: {MPICH_MPIIO_HINTS: "*:cray_cb_nodes_multiplier=4"}
    workload: {kernel: {name: adios, method: MPI_AGGREGATE, num_aggregators: 48}}
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationError,
    field_serializer,
    model_validator,
)

from sim.config.errors import InputError
from sim.config.fidelity import coarser
from sim.config.files import explain, find, read_mapping
from sim.config.machine import Count, Machine, Model, load_machine, read_machine
from sim.config.striping import StripeRequest
from sim.config.units import Load

Seed = Annotated[int, Field(ge=0)]

_HINTS_FILE = "ROMIO_HINTS"


def _node_list(value: object) -> object:
    """Let a node list be one number or several, beside a text."""
    if isinstance(value, int):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


class Placement(Model):
    """Which compute nodes the job gets.

    Attributes
    ----------
    policy
        ``contiguous``, ``random``, ``spread`` (over the groups) or ``list``.
    nodes
        For ``list``, the nodes: numbers, or a text such as ``0-15,32``.
    seed
        For ``random``; the seed of the scenario unless given.
    """

    policy: Literal["contiguous", "random", "spread", "list"] = "contiguous"
    nodes: Annotated[str | tuple[int, ...] | None, BeforeValidator(_node_list)] = None
    seed: Seed | None = None

    @model_validator(mode="after")
    def _nodes_belong_to_a_list(self) -> Placement:
        if (self.policy == "list") != (self.nodes is not None):
            raise ValueError(
                f"policy {self.policy!r} with nodes = {self.nodes}; right would be "
                "policy: list with nodes: 0-15,32, or another policy without nodes"
            )
        return self


def _placement(value: object) -> object:
    """Let a policy stand for a placement: ``placement: random``."""
    return {"policy": value} if isinstance(value, str) else value


def _arguments(value: object) -> object:
    """Split a command line into its words; take a list of words, numbers among them, as it is."""
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise InputError(f"{value!r} has a quote that is never closed") from error
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return value


def _kernel(value: object) -> object:
    """Let a name stand for a kernel whose options are all at their defaults."""
    return {"name": value} if isinstance(value, str) else value


def _variables(value: object) -> object:
    """Let the value of an environment variable be typed as a number."""
    if not isinstance(value, dict):
        return value
    return {
        name: str(text) if isinstance(text, int | float) and not isinstance(text, bool) else text
        for name, text in value.items()
    }


def _machine(value: object) -> str | Machine:
    """Let a machine be a name, a path or a whole machine that was read already."""
    if isinstance(value, str | Machine):
        return value
    raise ValueError(f"{value!r} is not a machine; right would be a name, as theta, or a path")


class Cores(Model):
    """How the job uses the cores of its nodes.

    Attributes
    ----------
    system
        Cores that ranks leave to the system's threads (core specialisation, ``--core-spec``).
    bind
        ``cores``: ranks are bound to cores of their own; ``none``: they run where the kernel puts
        them.
    threads
        I/O threads of a rank; its calls are dealt to them in turn.
    """

    system: Annotated[int, Field(ge=0)] = 0
    bind: Literal["cores", "none"] = "cores"
    threads: Count = 1


class Background(Model):
    """What other jobs do meanwhile in the whole file system.

    Attributes
    ----------
    read, write
        Bytes/s.
    typical
        Whether to add what they do on some day, drawn by the seed: see ``lustre.other_reads``.
    """

    read: Load = 0.0
    write: Load = 0.0
    typical: bool = False


class Workload(Model):
    """What the job does: one of the two.

    Attributes
    ----------
    ior
        The arguments of IOR, word by word. A script (``-f``) and a file of hints (``-U``) are found
        relative to the file that the scenario is in.
    kernel
        The ``name`` of a kernel, and its options; a name alone leaves all at their defaults. What
        options there are, the kernel itself says: ``xc40io kernel NAME --help``.
    """

    ior: Annotated[tuple[str, ...] | None, BeforeValidator(_arguments)] = None
    kernel: Annotated[dict[str, Any] | None, BeforeValidator(_kernel)] = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Workload:
        if (self.ior is None) == (self.kernel is None):
            raise ValueError(
                "right would be one of ior: ARGUMENTS and kernel: {name: NAME, OPTION: VALUE}"
            )
        return self


class Scenario(Model):
    """One simulated run: what :func:`load_scenario` returns.

    Attributes
    ----------
    title, description
        What it shows, in one line and in one paragraph.
    machine
        Name or path of the machine, or the machine itself; see :func:`machine_of`.
    changes
        New values for the machine by dotted path, as :meth:`Machine.with_changes` takes them.
    nodes, ppn
        Compute nodes of the job and processes (ranks) on each.
    placement
        Which nodes.
    cores
        How the ranks share the cores of a node with the system.
    background
        Other jobs on the same file system.
    rpcs_as_one
        Consecutive bulk RPCs of a transfer that are handled as one, for the sake of speed: see
        :mod:`sim.config.fidelity`.
    striping
        Of the files that the job writes.
    environment
        Environment variables of the job: ``MPICH_MPIIO_HINTS`` and whatever else MPI-IO looks at.
        A file that ``ROMIO_HINTS`` names is found relative to the file that the scenario is in.
    workload
        What the job does.
    seed
        Everything random in the run follows from it.
    """

    title: str = ""
    description: str = ""
    machine: Annotated[str | Machine, PlainValidator(_machine)]
    changes: dict[str, Any] = Field(default_factory=dict)
    nodes: Count
    ppn: Count
    placement: Annotated[Placement, BeforeValidator(_placement)] = Placement()
    cores: Cores = Cores()
    background: Background = Background()
    rpcs_as_one: Count = 1
    striping: StripeRequest = StripeRequest()
    environment: Annotated[dict[str, str], BeforeValidator(_variables)] = Field(
        default_factory=dict
    )
    workload: Workload
    seed: Seed = 1

    @field_serializer("machine")
    def _machine_written_out(self, machine: str | Machine) -> Any:
        """Write a machine that was handed over in full."""
        return machine.model_dump(mode="json") if isinstance(machine, Machine) else machine


def load_scenario(name_or_path: str | Path) -> Scenario:
    """Read and check a scenario.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a scenario that comes with xc40io, as ``theta-headline``, or the path of a file
        that ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such scenario, or a field is unknown, missing or of the wrong type. Whether
        the machine can run it, :func:`machine_of` says.
    """
    path = find("scenarios", name_or_path)
    document = read_mapping(path)
    machine = document.get("machine")
    if isinstance(machine, dict):
        document["machine"] = read_machine(machine, f"{path}: machine")
    elif isinstance(machine, str) and machine.endswith((".yaml", ".yml")):
        document["machine"] = str((path.parent / machine).resolve())
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        raise explain(error, str(path), Scenario) from error
    return _with_files_found(scenario, path.parent)


def _with_files_found(scenario: Scenario, folder: Path) -> Scenario:
    """Return a scenario with the paths of the files that it names made absolute."""
    updates: dict[str, object] = {}
    if scenario.workload.ior is not None:
        updates["workload"] = Workload(ior=_with_script_found(scenario.workload.ior, folder))
    if _HINTS_FILE in scenario.environment:
        found = str((folder / scenario.environment[_HINTS_FILE]).resolve())
        updates["environment"] = scenario.environment | {_HINTS_FILE: found}
    return scenario.model_copy(update=updates)


def _with_script_found(arguments: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return IOR's arguments with the paths of a script (``-f``) and of hints (``-U``) absolute."""
    return tuple(
        str((folder / word).resolve()) if option in ("-f", "-U") else word
        for option, word in zip(("", *arguments), arguments, strict=False)
    )


def machine_of(scenario: Scenario) -> Machine:
    """Return the machine of a scenario, with the scenario's changes made.

    Raises
    ------
    InputError
        If there is no such machine, if the changes do not fit, or if the machine is too small for
        the scenario.
    """
    machine = scenario.machine
    if isinstance(machine, str):
        machine = load_machine(machine)
    if scenario.changes:
        machine = machine.with_changes(scenario.changes)
    machine = coarser(machine, scenario.rpcs_as_one)
    if scenario.nodes > machine.nodes.count:
        raise InputError(
            f"nodes = {scenario.nodes} is more than the {machine.nodes.count} compute nodes of "
            f"{machine.name}"
        )
    if scenario.cores.system >= machine.nodes.cores:
        raise InputError(
            f"cores.system = {scenario.cores.system} leaves none of the {machine.nodes.cores} "
            f"cores of a node of {machine.name} to the ranks"
        )
    scenario.striping.check(machine.lustre.osts)
    return machine


def dump_scenario(scenario: Scenario) -> str:
    """Return a scenario as the text of a YAML file; :func:`load_scenario` reads it back."""
    document = scenario.model_dump(mode="json", exclude={"machine", "workload"}, exclude_none=True)
    ior = scenario.workload.ior
    kernel = scenario.workload.kernel
    document["workload"] = {"kernel": kernel} if ior is None else {"ior": shlex.join(ior)}
    ordered = {
        name: document[name] for name in Scenario.model_fields if document.get(name) not in _EMPTY
    }
    machine = scenario.machine
    if isinstance(machine, Machine):
        ordered["machine"] = machine.document()
    else:
        ordered = {"machine": machine} | ordered
    return yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


_EMPTY: tuple[object, ...] = (None, "", {})


def resolved_yaml(scenario: Scenario, machine: Machine) -> str:
    """Return the complete scenario as YAML: nothing left to a default or to a machine file.

    Parameters
    ----------
    scenario : Scenario
        As loaded.
    machine : Machine
        What :func:`machine_of` returned for it; it is written out in full, with its sources.
    """
    striping = StripeRequest(
        count=scenario.striping.count or machine.lustre.default_stripe_count,
        size=scenario.striping.size or machine.lustre.default_stripe_size,
        offset=scenario.striping.offset,
    )
    placement = scenario.placement
    if placement.policy == "random" and placement.seed is None:
        placement = placement.model_copy(update={"seed": scenario.seed})
    complete = {"machine": machine, "changes": {}, "striping": striping, "placement": placement}
    return dump_scenario(scenario.model_copy(update=complete))


class _Dumper(yaml.SafeDumper):
    """Writes a value with its source on a line of its own, as a machine file does."""


def _represent_mapping(dumper: _Dumper, mapping: dict[str, Any]) -> yaml.Node:
    flow = "firm" in mapping
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=flow)


_Dumper.add_representer(dict, _represent_mapping)
