"""The knob of layouts beyond stripes: composite layouts, data on the MDT, overstriping.

What is proposed is what sites give as a default, and what Lustre's manual shows; which of them a
machine can have follows from its release of Lustre.
"""

from __future__ import annotations

from collections.abc import Iterator

from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.mpi.hints import LAYOUT_HINTS
from xc40io.studies.advice.job_nature import JobNature

COMPOSITE, PLAIN = "components", "plain"

_GROWING = "-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -S 4M"
"""The default of CSCS's file systems, and the example of Lustre's manual."""

_LATE = "-E 256M -c 1 -E 16G -c 4 -E -1 -c -1 -S 4M"
"""The example of a folder's default in Lustre's manual."""

_ON_MDT = "-E 64K -L mdt -E 64M -c 1 -S 1M -E -1 -c -1 -S 4M"
"""Small files on the MDT, as IO500's script has it, large ones on all OSTs."""

_WIDER = (2, 4)  # objects on each OST: IO500's script proposes four


def composite_layouts(nature: JobNature) -> tuple[str, ...]:
    """Return the options of ``lfs setstripe`` that a job's files can have, beyond count and size.

    None where something else says how the files are laid out: hints, IOR's options, the program.
    """
    own = any(part.stripe_count or part.stripe_size for part in nature.parts)
    if nature.lays_out or own or LAYOUT_HINTS.keys() & nature.hints.keys():
        return ()
    return tuple(_possible(nature))


def _possible(nature: JobNature) -> Iterator[str]:
    lustre = nature.machine.lustre
    if lustre.composite_layouts and lustre.osts >= 4:
        yield from (_GROWING, _LATE)
        if lustre.dom_size:
            yield _ON_MDT
    if lustre.overstriping and not nature.own_files:
        yield from (f"-C {times * lustre.osts} -S 4M" for times in _WIDER)


def with_layout(scenario: Scenario, value: str) -> Scenario:
    """Return a scenario with one of these layouts, or a plain one in its place."""
    before = scenario.striping
    if value == PLAIN:
        striping = StripeRequest(count=before.count, size=before.size, mdts=before.mdts)
    else:
        striping = StripeRequest(setstripe=value, mdts=before.mdts)
    return scenario.model_copy(update={"striping": striping})
