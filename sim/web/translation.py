"""From a setting to the scenario that is run, and back."""

from __future__ import annotations

from sim.config.scenario import Scenario, Workload
from sim.config.scenario import Target as AskedTarget
from sim.config.striping import StripeRequest
from sim.web.settings import Settings, bytes_of, size_of
from sim.workloads.ior.options import IorTest, parse_arguments

HINTS = "MPICH_MPIIO_HINTS"
"""The variable that hints stand in."""


def ior_words(settings: Settings) -> list[str]:
    """Return the arguments of IOR that do what a setting says."""
    words = ["-a", settings.api]
    words += ["-c"] if settings.collective and settings.hinted else []
    words += ["-F"] if settings.files == "own" else []
    words += ["-w"] if settings.work != "read" else []
    words += ["-r"] if settings.work != "write" else []
    words += ["-C"] if settings.reorder else []
    words += ["-e"] if settings.fsync else []
    words += ["--posix.odirect"] if settings.direct and settings.api == "POSIX" else []
    words += ["-z"] if settings.pattern == "random" else []
    if settings.pattern != "strided":
        return [*words, "-b", settings.block, "-t", settings.transfer]
    calls = bytes_of(settings.block) // bytes_of(settings.transfer)
    return [*words, "-b", settings.transfer, "-t", settings.transfer, "-s", str(calls)]


def hint_text(settings: Settings) -> str:
    """Return the hints of a setting as ``MPICH_MPIIO_HINTS`` takes them; empty: no hints."""
    if not settings.hinted:
        return ""
    hints = [f"cb_nodes={settings.cb_nodes}"] if settings.cb_nodes else []
    if settings.multiplier > 1:
        hints.append(f"cray_cb_nodes_multiplier={settings.multiplier}")
    if settings.lock_mode != "0":
        hints.append(f"cray_cb_write_lock_mode={settings.lock_mode}")
    if settings.lock_mode == "1":  # with a group lock nobody else may open the file
        hints.append("romio_no_indep_rw=true")
    hints += [f"romio_cb_write={settings.cb_write}"] if settings.cb_write != "automatic" else []
    hints += [f"romio_cb_read={settings.cb_read}"] if settings.cb_read != "automatic" else []
    hints += ["direct_io=true"] if settings.direct else []
    hints += [settings.more_hints] if settings.more_hints else []
    return ":".join(["*", *hints]) if hints else ""


def scenario_of(settings: Settings) -> Scenario:
    """Return the scenario that a setting describes.

    Raises
    ------
    InputError
        If there can be no such stripes. Whether IOR and the machine can do it, shows when it is
        checked or run.
    """
    hints = hint_text(settings)
    striping = StripeRequest()
    if settings.striped:
        size = bytes_of(settings.stripe_size) if settings.stripe_size else None
        striping = StripeRequest(count=settings.stripe_count or None, size=size)
    return Scenario(
        machine=settings.machine,
        nodes=settings.nodes,
        ppn=settings.ppn,
        rpcs_as_one=settings.rpcs_as_one,
        striping=striping,
        target=AskedTarget(kind=settings.target),
        environment={HINTS: hints} if hints else {},
        workload=Workload(ior=tuple(ior_words(settings))),
        seed=settings.seed,
    )


def settings_of(scenario: Scenario) -> Settings | None:
    """Return the setting that comes nearest to a scenario of IOR; None if none is near.

    What the controls cannot say and what makes little difference is left out, such as barriers
    between open and write; hints are left out, too.
    """
    if scenario.workload.ior is None or not isinstance(scenario.machine, str):
        return None
    if scenario.changes or scenario.target.kind == "home":
        return None
    tests = parse_arguments(scenario.workload.ior).tests
    if len(tests) > 1 or not _near(tests[0]):
        return None
    test, striping = tests[0], scenario.striping
    strided = test.segments > 1
    work = "both" if test.write and test.read else "write" if test.write else "read"
    return Settings.model_validate(
        {
            "machine": scenario.machine,
            "nodes": scenario.nodes,
            "ppn": scenario.ppn,
            "target": scenario.target.kind,
            "work": work,
            "api": test.api,
            "collective": test.collective,
            "files": "own" if test.file_per_process else "shared",
            "pattern": "random" if test.random_offset else "strided" if strided else "segmented",
            "block": size_of(test.block_size * test.segments),
            "transfer": size_of(test.transfer_size),
            "stripe_count": striping.count or 0,
            "stripe_size": size_of(striping.size) if striping.size else "",
            "fsync": test.fsync,
            "reorder": test.reorder_constant,
            "direct": test.direct_io,
            "rpcs_as_one": scenario.rpcs_as_one,
            "seed": scenario.seed,
        }
    )


def _near(test: IorTest) -> bool:
    """Tell whether the controls can say about the same as an IOR test."""
    odd = test.fsync_per_write or test.reorder_random or test.deadline or test.repetitions > 1
    blocks = test.segments > 1 and test.block_size != test.transfer_size
    return not (odd or blocks or test.check_read or test.check_write or test.tasks is not None)
