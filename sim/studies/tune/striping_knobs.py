"""The knobs of the striping of a job's files: over how many OSTs, in stripes of which size."""

from __future__ import annotations

from dataclasses import replace

from sim.config.job_form import HINTS
from sim.config.scenario import Scenario, Workload
from sim.config.units import MIB, SHORT_SIZES
from sim.studies.tune.hinted import with_hints
from sim.studies.tune.job_nature import JobNature
from sim.studies.tune.knob import Knob, Turner

COUNT, SIZE = "stripe-count", "stripe-size"

ELSEWHERE = {"target": frozenset({"ssd", "bb", "home"})}
"""Where files have no stripes."""

_SIZES = tuple(mebibytes * MIB for mebibytes in (1, 2, 4, 8, 16, 32))
_SMALLEST_BLOCK, _LARGEST_BLOCK = MIB, 64 * MIB
_FEW_OBJECTS = 8
"""Most stripes of a file that one rank has for itself."""


def count_knob(nature: JobNature) -> Knob:
    """Return the knob of the OSTs of a file: doublings, three quarters of one more, and all."""
    osts = nature.machine.lustre.osts
    most = min(_FEW_OBJECTS, osts) if nature.own_files else osts
    values = {2**power for power in range(most.bit_length())}
    if not nature.own_files:
        values |= {osts, _three_quarters(osts)}
    present = stripe_count_of(nature)
    if present is not None:
        values.add(present)

    choices = tuple(sorted(values))
    words = "OSTs of a file"
    return Knob(COUNT, words, Turner.USER, choices, _with_count, present, idle=ELSEWHERE)


def _three_quarters(osts: int) -> int:
    """Return the largest count between two doublings that there are OSTs for: 48 of 56."""
    return max(
        (3 * 2**power for power in range(osts.bit_length()) if 3 * 2**power <= osts), default=1
    )


def size_knob(nature: JobNature) -> Knob:
    """Return the knob of the bytes of a stripe: 1 to 32 MiB, and the block of a rank."""
    values = set(_SIZES)
    block = nature.block
    if block is not None and _SMALLEST_BLOCK <= block <= _LARGEST_BLOCK and block % MIB == 0:
        values.add(block)
    present = stripe_size_of(nature)
    if present is not None:
        values.add(present)

    choices, words = tuple(sorted(values)), "bytes of a stripe"
    return Knob(
        SIZE,
        words,
        Turner.USER,
        choices,
        _with_size,
        present,
        label=SHORT_SIZES.write,
        idle=ELSEWHERE,
    )


def striping_of(nature: JobNature, scenario: Scenario) -> tuple[int | None, int | None]:
    """Return stripe count and size of the files of a job with other settings."""
    changed = replace(nature, scenario=scenario)
    return stripe_count_of(changed), stripe_size_of(changed)


def stripe_count_of(nature: JobNature) -> int | None:
    """Return over how many OSTs the files of a job lie; None where a log knows it of each file."""
    osts = nature.machine.lustre.osts
    own = nature.tests[0].stripe_count if nature.tests else 0
    hint = nature.hints.get("striping_factor") if nature.collective or nature.over_mpi else None
    asked = own or int(hint or 0) or nature.scenario.striping.count or 0
    if not asked and nature.replays:
        return None
    count = asked or nature.machine.lustre.default_stripe_count
    return osts if count == -1 else count


def stripe_size_of(nature: JobNature) -> int | None:
    """Return the bytes of a stripe; None where a log knows it of each file."""
    own = nature.tests[0].stripe_size if nature.tests else 0
    hint = nature.hints.get("striping_unit") if nature.collective or nature.over_mpi else None
    asked = own or int(hint or 0) or nature.scenario.striping.size or 0
    if not asked and nature.replays:
        return None
    return asked or nature.machine.lustre.default_stripe_size


def _with_count(scenario: Scenario, value: int) -> Scenario:
    striping = replace(scenario.striping, count=value)
    changed = scenario.model_copy(update={"striping": striping})
    return _elsewhere_too(changed, "striping_factor", "posix.lustre.stripecount", value)


def _with_size(scenario: Scenario, value: int) -> Scenario:
    striping = replace(scenario.striping, size=value)
    changed = scenario.model_copy(update={"striping": striping})
    return _elsewhere_too(changed, "striping_unit", "posix.lustre.stripesize", value)


def _elsewhere_too(scenario: Scenario, hint: str, option: str, value: int) -> Scenario:
    """Return a scenario with a value of the striping also where a hint or IOR asks for one."""
    if hint in scenario.environment.get(HINTS, ""):
        scenario = with_hints(scenario, {hint: str(value)})
    words = scenario.workload.ior or ()
    if any(option in word for word in words):
        workload = Workload(ior=(*words, f"--{option}={value}"))
        scenario = scenario.model_copy(update={"workload": workload})
    return scenario
