"""The description of one simulated run: which machine, how many nodes, what workload.

A scenario file (``configs/scenarios/*.yaml``) holds what would otherwise be typed on the command
line, and may change the machine for a what-if study::

    machine: theta
    changes: {lustre.osts: 112}
    nodes: 256
    ppn: 16
    striping: {count: 48, size: 8m}
    workload: {ior: -a POSIX -w -r -e -b 8m -t 8m}

or with ``mdtest: -n 1000 -F -u`` or ``io500: {config: {ior-easy: {transferSize: 1m}}}`` in place of
IOR; or, for a kernel, and with what MPI-IO finds in
its environment::

    environment: {MPICH_MPIIO_HINTS: "*:cray_cb_nodes_multiplier=4"}
    workload: {kernel: {name: adios, method: MPI_AGGREGATE, num_aggregators: 48}}

A file that lists several jobs in place of one is described in :mod:`xc40io.config.jobs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import CoreSchema, core_schema

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, shown
from xc40io.config.faults import Faults
from xc40io.config.files import find, read_mapping
from xc40io.config.job_form import Access, Binding, Policy, TargetKind
from xc40io.config.kept import kept
from xc40io.config.machine import Machine, coarser, load_machine, read_machine
from xc40io.config.model import Model, checked
from xc40io.config.reading import reads
from xc40io.config.striping import AskedStriping, StripeRequest
from xc40io.config.units import Count, Load, Seconds, Size, format_bytes

Seed = Annotated[int, Field(ge=0)]

HINTS_FILE = "ROMIO_HINTS"
"""The environment variable that names a file of hints for MPI-IO."""


def _node_list(value: object) -> object:
    """Read a node list that is one number or several, beside a text."""
    if isinstance(value, int):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


@kept
class Placement(Model):
    """Which compute nodes the job gets."""

    #: ``contiguous``, ``random``, ``spread`` (over the groups) or ``list``.
    policy: Literal[Policy, "list"] = "contiguous"
    #: For ``list``, the nodes: numbers, or a text such as ``0-15,32``.
    nodes: Annotated[str | tuple[int, ...] | None, BeforeValidator(_node_list)] = None
    seed: Seed | None = None  #: For ``random``; the seed of the scenario unless given.

    @model_validator(mode="after")
    def _nodes_belong_to_a_list(self) -> Placement:
        if (self.policy == "list") != (self.nodes is not None):
            raise ValueError(
                f"policy {self.policy!r} with nodes = {self.nodes}; right would be "
                "policy: list with nodes: 0-15,32, or another policy without nodes"
            )
        return self


def _placement(value: object) -> object:
    """Read a policy as a placement: ``placement: random``."""
    return {"policy": value} if isinstance(value, str) else value


def _variables(value: object) -> object:
    """Read the value of an environment variable that is typed as a number."""
    if not isinstance(value, dict):
        return value
    return {
        name: str(text) if isinstance(text, int | float) and not isinstance(text, bool) else text
        for name, text in value.items()
    }


def _machine(value: object) -> str | Machine:
    """Accept the name of a machine that ships, a path or a whole machine that was read already."""
    if isinstance(value, str) and not value.endswith((".yaml", ".yml")):
        find("machines", value)
    if isinstance(value, str | Machine):
        return value
    raise ValueError(f"{value!r} is not a machine; right would be a name, as in theta, or a path")


def _machine_written_out(machine: str | Machine) -> Any:
    """Write a machine that was handed over in full."""
    return machine.model_dump(mode="json") if isinstance(machine, Machine) else machine


class _Reference:
    """How a reference to a machine is checked and written.

    pydantic's ``PlainValidator`` and ``PlainSerializer`` do the same, but put together how a whole
    machine would be checked and written, which nobody asks them for: 10 ms in every run.
    """

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> CoreSchema:
        """Return pydantic's description of the field."""
        written = core_schema.plain_serializer_function_ser_schema(_machine_written_out)
        return core_schema.no_info_plain_validator_function(_machine, serialization=written)


MachineReference = Annotated[str | Machine, _Reference()]
"""The name or the path of a machine, or the machine itself."""


Factor = Annotated[float, Field(gt=0, strict=False)]
"""How many times as long something takes: 1 as usual, 2 twice as long."""


@kept
class Cores(Model):
    """How the job uses the cores of its nodes."""

    #: Cores that ranks leave to the system's threads (core specialisation, ``--core-spec``).
    system: Annotated[int, Field(ge=0)] = 0
    #: ``cores``: ranks are bound to cores of their own; ``none``: they run where the kernel puts
    #: them.
    bind: Binding = "cores"
    threads: Count = 1  #: I/O threads of a rank; its calls are dealt to them in turn.
    #: Cores that each rank has (``aprun -d``, ``srun -c``): threads that work beside it, where its
    #: program has such, are on the later ones; with one core they share it with the rank.
    depth: Count = 1


@kept
class Background(Model):
    """What other jobs do meanwhile in the whole file system."""

    #: Bytes/s.
    read: Load = 0.0
    write: Load = 0.0
    #: Whether to add what they do on some day, drawn by the seed: see ``lustre.other_reads``.
    typical: bool = False


@kept
class Target(Model):
    """Where the job's files are."""

    #: ``lustre``; ``ssd``, the local SSD of each node; ``bb``, an allocation of the burst buffer;
    #: ``home``, the home directories.
    kind: TargetKind = "lustre"
    #: Bytes of the allocation of the burst buffer; it decides over how many service nodes it is
    #: spread. One part on each of them unless given.
    capacity: Size | None = None
    #: Of the burst buffer: ``striped`` over all service nodes of the allocation, or ``private``:
    #: each compute node has files of its own, each on one service node.
    access: Access = "striped"
    #: SSDs that fail: after how many seconds, by the number of the node in the job, from 0.
    lost: dict[Annotated[int, Field(ge=0)], Seconds] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _options_belong_to_the_kind(self) -> Target:
        if self.kind != "bb" and (self.capacity is not None or self.access != "striped"):
            raise ValueError(
                f"kind {self.kind!r} with a capacity or an access; only bb, the burst buffer, has "
                "allocations"
            )
        if self.kind != "ssd" and self.lost:
            raise ValueError(
                f"kind {self.kind!r} with lost = {self.lost}; right would be kind: ssd, whose "
                "devices can be lost"
            )
        return self


def _target(value: object) -> object:
    """Read a kind as a target: ``target: ssd``."""
    return {"kind": value} if isinstance(value, str) else value


AskedTarget = Annotated[Target, BeforeValidator(_target)]


AskedPlacement = Annotated[Placement, BeforeValidator(_placement)]
"""A placement, or the name of its policy."""

Variables = Annotated[dict[str, str], BeforeValidator(_variables)]
"""Environment variables of a job."""


@kept
class Scenario(Model):
    """One simulated run: what :func:`load_scenario` returns."""

    #: What it shows, in one line and in one paragraph.
    title: str = ""
    description: str = ""
    #: Name or path of the machine, or the machine itself; see :func:`machine_of`.
    machine: MachineReference
    #: New values for the machine by dotted path, as :meth:`Machine.with_changes` takes them.
    changes: dict[str, Any] = Field(default_factory=dict)
    #: Compute nodes of the job and processes (ranks) on each.
    nodes: Count
    ppn: Count
    placement: AskedPlacement = Placement()  #: Which nodes.
    cores: Cores = Cores()  #: How the ranks share the cores of a node with the system.
    background: Background = Background()  #: Other jobs on the same file system.
    #: Parts of the machine that are slow, by their names as reports print them (``OST 3``, ``LNET
    #: router 5``): how many times as long as usual a service takes, from begin to end. And ranks
    #: that are: ``computing of rank 7``, or ``computing`` for all of them, says how many times as
    #: long they compute between their calls.
    slow: dict[str, Factor] = Field(default_factory=dict)
    #: What happens to parts of the machine, and when: a sentence each, see
    #: :mod:`xc40io.config.faults`.
    faults: Faults = ()
    #: Consecutive bulk RPCs of a transfer that are handled as one, for the sake of speed: see
    #: :func:`xc40io.config.machine.coarser`.
    rpcs_as_one: Count = 1
    #: Of the files that the job writes: ``{count: 8, size: 8m}``, or the options of ``lfs
    #: setstripe``, as ``-E 4M -c 1 -E -1 -c 8``.
    striping: AskedStriping = StripeRequest()
    #: Where these files are: Lustre, the SSDs of the nodes, a burst buffer, the home directories.
    target: AskedTarget = Target()
    #: Environment variables of the job: ``MPICH_MPIIO_HINTS`` and whatever else MPI-IO looks at. A
    #: file that ``ROMIO_HINTS`` names is found relative to the file that the scenario is in.
    environment: Variables = Field(default_factory=dict)
    workload: Workload  #: What the job does.
    seed: Seed = 1  #: Everything random in the run follows from it.

    if TYPE_CHECKING:  # any field is also given as a file has it, and all of them as a mapping

        def __init__(
            self, *, machine: Any, nodes: Any, ppn: Any, workload: Any, **others: Any
        ) -> None: ...


@reads("a scenario, as in configs/scenarios")
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

    Examples
    --------
    >>> from xc40io import load_scenario
    >>> scenario = load_scenario("theta-headline")
    >>> scenario.nodes, scenario.striping.count, scenario.workload.command
    (256, 48, 'ior -a MPIIO -O iorVersion=3 -w -r -C -e -b 8m -t 8m')
    """
    path, document = read_scenario_file(name_or_path)
    several = [name for name in ("jobs", "mix") if name in document]
    if several:
        raise InputError(
            f"{path}: {several[0]}: the scenario has several jobs; right would be one of a single "
            "job here, or xc40io run for this one"
        )
    scenario = checked_scenario(document, str(path))
    workload = scenario.workload.found_from(path.parent)
    environment = with_hints_found(scenario.environment, path.parent)
    return scenario.model_copy(update={"workload": workload, "environment": environment})


def asked_scenario(scenario: Scenario | str | Path) -> Scenario:
    """Return a scenario that was handed over as such, by its name or by its path.

    Raises
    ------
    InputError
        If it is neither; as :func:`load_scenario`.
    """
    if isinstance(scenario, str | Path):
        return load_scenario(scenario)
    if not isinstance(scenario, Scenario):
        raise InputError(
            f"{shown(scenario)} is no scenario of one job; right would be a Scenario, the name of "
            "one that ships, as theta-headline, or the path of a YAML file"
        )
    return scenario


def checked_scenario(document: Mapping[str, Any], place: str) -> Scenario:
    """Return the scenario of one job that a mapping describes; `place` is for the messages."""
    return checked(Scenario, document, place)


def read_scenario_file(
    name_or_path: str | Path, kind: str = "scenarios"
) -> tuple[Path, dict[str, Any]]:
    """Find and read the file of a scenario, with its machine found if that is a file of its own.

    ``kind`` is the folder of what ships with xc40io.

    Raises
    ------
    InputError
        If there is no such scenario, or the file holds no mapping.
    """
    path = find(kind, name_or_path)
    document = read_mapping(path)
    machine = document.get("machine")
    if isinstance(machine, dict):
        document["machine"] = read_machine(machine, f"{path}: machine", path.parent)
    elif isinstance(machine, str) and machine.endswith((".yaml", ".yml")):
        document["machine"] = str((path.parent / machine).resolve())
    return path, document


def with_hints_found(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return a job's environment with the path of the file of hints made absolute.

    Where the text of the file stands in its place, it stays.
    """
    if "\n" in environment.get(HINTS_FILE, "\n"):
        return dict(environment)
    return {**environment, HINTS_FILE: str((folder / environment[HINTS_FILE]).resolve())}


def machine_of(scenario: Scenario) -> Machine:
    """Return the machine of a scenario, with the scenario's changes made.

    Raises
    ------
    InputError
        If there is no such machine, if the changes do not fit, or if the machine is too small for
        the scenario.
    """
    machine = changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)
    check_job(scenario, machine)
    return machine


def changed_machine(
    machine: str | Machine, changes: Mapping[str, Any], rpcs_as_one: int
) -> Machine:
    """Return a machine with a scenario's changes made.

    Raises
    ------
    InputError
        If there is no such machine, or the changes do not fit.
    """
    if isinstance(machine, str):
        machine = load_machine(machine)
    if changes:
        machine = machine.with_changes(changes)
    return coarser(machine, rpcs_as_one)


def check_job(scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless a machine is large enough for a scenario."""
    if scenario.nodes > machine.nodes.count:
        raise InputError(
            f"nodes = {scenario.nodes} is more than the {machine.nodes.count} compute nodes of "
            f"{machine.name}"
        )
    _check_cores(scenario, machine)
    machine.lustre.check_striping(scenario.striping)
    scenario.striping.check_mdts(machine.lustre.mds.mdts)
    _check_target(scenario, machine)


def _check_cores(scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless a node has a hardware thread for each of its programs."""
    if scenario.cores.system >= machine.nodes.cores:
        raise InputError(
            f"cores.system = {scenario.cores.system} leaves none of the {machine.nodes.cores} "
            f"cores of a node of {machine.name} to the ranks"
        )
    cores, threads = machine.nodes.cores, machine.nodes.threads_per_core
    usable = cores - scenario.cores.system
    if scenario.cores.depth > 1 and scenario.cores.depth * scenario.ppn > usable:
        raise InputError(
            f"cores.depth = {scenario.cores.depth}: {scenario.ppn} ranks would have more than the "
            f"{usable} cores that a node of {machine.name} has for them; right would be at most "
            f"{max(usable // scenario.ppn, 1)}"
        )
    for name, count in (("ppn", scenario.ppn), ("cores.threads", scenario.cores.threads)):
        if count > cores * threads:
            raise InputError(
                f"{name} = {count}: a node of {machine.name} has {cores} cores of {threads} "
                f"hardware threads; right would be at most {cores * threads}"
            )


_TARGETS = {"ssd": "ssd", "bb": "burst_buffer", "home": "home"}


def _check_target(scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless a machine has what the files of a scenario are to be on."""
    target = scenario.target
    section = _TARGETS.get(target.kind)
    if section is not None and getattr(machine, section) is None:
        has = [kind for kind, name in _TARGETS.items() if getattr(machine, name) is not None]
        raise InputError(
            f"target = {target.kind}: the machine file of {machine.name} has no section {section}; "
            f"right would be {' or '.join(['lustre', *has])}"
        )
    for node in target.lost:
        if node >= scenario.nodes:
            raise InputError(
                f"target.lost: {node} is not a node of the job; right would be 0 to "
                f"{scenario.nodes - 1}"
            )
    service = machine.burst_buffer
    if target.capacity is not None and service is not None and target.capacity > service.capacity:
        raise InputError(
            f"target.capacity = {format_bytes(target.capacity)} is more than the burst buffer of "
            f"{machine.name} has: {format_bytes(service.capacity)}"
        )
