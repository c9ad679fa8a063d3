"""From a setting to a scenario, a command, a program and a link; and back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from xc40io.config.errors import InputError, nearest
from xc40io.config.job_form import in_scenario, option_of
from xc40io.config.model import explain
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.config.units import SHORT_SIZES
from xc40io.web.settings import Settings, bytes_of
from xc40io.workloads.ior.options import IorTest, parse_arguments

_B = "b."
_COMPARE, _RUN, _FILM = "compare", "run", "film"
_ASIDE = frozenset({_COMPARE, _RUN, _FILM})
_MOST = 4096  # letters of a link


def ior_words(settings: Settings) -> list[str]:
    """Return the arguments of IOR that do what a setting says."""
    words = ["-a", settings.api]
    words += ["-O", "iorVersion=3"] if settings.ior3 and settings.hinted else []
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
    return [*words, "-b", settings.transfer, "-t", settings.transfer, "-s", str(settings.calls)]


def _hint_text(settings: Settings) -> str:
    """Return the hints of a setting as a job's environment has them; empty: no hints."""
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


def _job(settings: Settings) -> dict[str, Any]:
    """Return the fields of the job (:mod:`xc40io.config.job_form`) that are to be said."""
    job = {"machine": settings.machine, "nodes": settings.nodes, "ppn": settings.ppn}
    if settings.striped:
        job |= {"stripe_count": settings.stripe_count, "stripe_size": settings.stripe_size}
    else:
        job |= {"target": settings.target}
    job |= {"hints": _hint_text(settings)}
    job |= {"rpcs_as_one": settings.rpcs_as_one if settings.rpcs_as_one > 1 else None}
    return {name: value for name, value in job.items() if value} | {"seed": settings.seed}


def _document(settings: Settings) -> dict[str, Any]:
    """Return what is to be said of the scenario, in its order."""
    document = in_scenario(_job(settings)) | {"workload": {"ior": " ".join(ior_words(settings))}}
    if "target" in document:
        document["target"] = settings.target
    return {name: document[name] for name in Scenario.model_fields if name in document}


def scenario_of(settings: Settings) -> Scenario:
    """Return the scenario that a setting describes.

    Raises
    ------
    InputError
        If there can be no such stripes. Whether IOR and the machine can do it, shows when it is
        checked or run.
    """
    document = _document(settings)
    striping = document.get("striping", {})
    if "size" in striping:
        striping["size"] = bytes_of(striping["size"])
    return Scenario.model_validate(document | {"striping": StripeRequest(**striping)})


def command_of(settings: Settings) -> str:
    """Return the command that makes the run of a setting: ``xc40io ior ... -- -a POSIX ...``."""
    words = ["xc40io", "ior"]
    for name, value in _job(settings).items():
        if (name, value) != ("seed", 1):
            words += [option_of(name), str(value)]
    return shlex.join([*words, "--", *ior_words(settings)])


def python_of(settings: Settings) -> str:
    """Return a program that makes the run of a setting and prints its phases."""
    return "\n".join(
        [
            "import xc40io",
            "",
            "scenario = xc40io.Scenario(",
            *[f"    {name}={_quoted(value)}," for name, value in _document(settings).items()],
            ")",
            "result = xc40io.simulate(scenario)",
            'print(result.to_pandas()["phases"][["phase", "seconds", "bandwidth"]])',
            "",
        ]
    )


def _quoted(value: object) -> str:
    """Return a value as Python writes it, with double quotes."""
    if isinstance(value, str):
        return f'"{value}"'  # no field can hold a quote
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)}: {_quoted(item)}' for key, item in value.items())}}}"
    return str(value)


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
    if len(tests) != 1 or not _near(tests[0]):
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
            "ior3": test.api != "POSIX" and test.version == 3,
            "files": "own" if test.file_per_process else "shared",
            "pattern": "random" if test.random_offset else "strided" if strided else "segmented",
            "block": SHORT_SIZES.write(test.block_size * test.segments),
            "transfer": SHORT_SIZES.write(test.transfer_size),
            "stripe_count": striping.count or 0,
            "stripe_size": SHORT_SIZES.write(striping.size) if striping.size else "",
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


class State(NamedTuple):
    """What the page shows: a setting, perhaps one beside it."""

    a: Settings
    b: Settings | None = None
    run: bool = False  # whether it is run when the page opens
    film: str = ""  # the side whose animation is shown after that; empty: none

    @property
    def sides(self) -> dict[str, Settings]:
        """The settings by the name of their side: ``A``, and ``B`` if there is one."""
        return {"A": self.a} | ({} if self.b is None else {"B": self.b})


def query_of(state: State) -> str:
    """Return a state as the query of a link, without a question mark; defaults are left out."""
    pairs = _changed(state.a, Settings(), "")
    if state.b is not None:
        pairs[_COMPARE] = "1"
        pairs |= _changed(state.b, state.a, _B)
    if state.run:
        pairs[_RUN] = "1"
    if state.film:
        pairs[_FILM] = state.film
    # Without a query a page opens with another setting: that of a published run.
    pairs = pairs or {"nodes": str(state.a.nodes)}
    return urlencode(pairs, safe=":=*,")


def _changed(settings: Settings, base: Settings, prefix: str) -> dict[str, str]:
    """Return the fields in which a setting differs from another, as texts."""
    return {
        f"{prefix}{name}": str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in settings.model_dump().items()
        if value != getattr(base, name)
    }


def state_of(query: str) -> State:
    """Return the state that a link describes; the reverse of :func:`query_of`.

    Raises
    ------
    InputError
        If a field is unknown or its value is none that it can have.
    """
    if len(query) > _MOST:
        raise InputError(f"the link has {len(query):,} letters; right would be {_MOST:,} at most")
    pairs = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True))
    known = {*Settings.model_fields, *(f"{_B}{name}" for name in Settings.model_fields), *_ASIDE}
    for name in pairs:
        if name not in known:
            raise InputError(f"the link says {name!r}, not a setting{nearest(name, known)}")
    a = checked({name: text for name, text in pairs.items() if name in Settings.model_fields})
    b = None
    if _COMPARE in pairs:
        own = {name.removeprefix(_B): text for name, text in pairs.items() if name.startswith(_B)}
        b = checked(a.model_dump() | own)
    film = pairs.get(_FILM, "")
    state = State(a, b, _RUN in pairs or bool(film), film)
    if film and film not in state.sides:
        sides = " or ".join(f"film={side}" for side in state.sides)
        raise InputError(f"the link says film={film!r}; right would be {sides}")
    return state


def checked(fields: Mapping[str, Any]) -> Settings:
    """Return a setting of these fields; the others have their defaults.

    Raises
    ------
    InputError
        If a field is unknown or its value is none that it can have.
    """
    try:
        return Settings.model_validate(fields)
    except ValidationError as error:
        raise explain(error, "settings", Settings) from error
