"""On which machine a script runs, as far as it says so."""

from __future__ import annotations

from xc40io.config.machine import DEFAULT_MACHINE, Machine, shipped_machines
from xc40io.workloads.batch.directives import Request

_OF_FEATURE = {"knl": "cori-knl", "haswell": "cori-haswell"}
"""The machine whose nodes a script asks for by this constraint (``#SBATCH -C knl``)."""

_OF_COBALT = "theta"
"""The XC40 whose batch system was Cobalt."""

_USUAL = {"slurm": "cori-haswell", "pbs": "titan"}
"""The machine that a script is taken to be for which only tells its batch system."""

_NAMES = {"slurm": "Slurm", "pbs": "PBS"}


def guessed_machine(request: Request, text: str, each: int = 0) -> tuple[str, str | None]:
    """Return the name of the machine of a script, and a sentence if it is but assumed.

    It is known by the nodes that the script asks for, by Cobalt, or by a path on the machine's
    Lustre (``lustre.mounts``). Else its nodes have room for what is asked of one, and for the
    ranks on each that launches want.
    """
    for feature, machine in _OF_FEATURE.items():
        if feature in request.features:
            return machine, None
    if request.system == "cobalt":
        return _OF_COBALT, None
    mounted = {
        machine.name: mount
        for machine in shipped_machines()
        for mount in machine.lustre.mounts or ()
        if mount in text
    }
    if mounted:
        usual = _USUAL.get(request.system)
        name = usual if usual in mounted else next(iter(mounted))
        if len(mounted) == 1:
            return name, None
        return name, (
            f"the paths under {mounted[name]} are those of {', '.join(mounted)}; simulated is "
            f"{name} (--machine)"
        )
    usual = _USUAL.get(request.system, DEFAULT_MACHINE)
    name = _with_room(usual, request, each)
    if name != usual:
        return name, (
            f"the script does not say its machine; simulated is {name}, whose nodes have room for "
            "what it asks (--machine)"
        )
    why = (
        f"of its batch system, {_NAMES[request.system]}"
        if request.system in _NAMES
        else "where nothing says which"
    )
    return name, f"the script does not say its machine; simulated is {name}, {why} (--machine)"


def _with_room(name: str, request: Request, each: int) -> str:
    """Return a machine, or the one with the fewest cores a node that has room for a request."""
    wanted = max(request.cpus or 0, request.ppn or 0, each)
    room = {one.name: one.nodes.cores * one.nodes.threads_per_core for one in shipped_machines()}
    if room[name] >= wanted:
        return name
    wide = [one for one in room if room[one] >= wanted]
    return min(wide, key=lambda one: (room[one], one), default=name)


def target_of(path: str | None, machine: Machine) -> tuple[str, str]:
    """Return on which storage of a machine a path lies, and how it is accessed.

    A path that nobody knows is on Lustre.
    """
    if path is None:
        return "lustre", "striped"
    if path.startswith("$DW_"):
        return "bb", "private" if path.startswith("$DW_JOB_PRIVATE") else "striped"
    if machine.home is not None and path.startswith(("~", "$HOME")):
        return "home", "striped"
    places = {"ssd": machine.ssd, "home": machine.home}
    for kind, place in places.items():
        if place is not None and f"{path}/".startswith(f"{place.mount.rstrip('/')}/"):
            return kind, "striped"
    return "lustre", "striped"
