"""The run of IO500: what IO500 of SC25 prints, its result files, and what a simulator knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xc40io.config.errors import InputError
from xc40io.results.programs.output import Output, OutputFile
from xc40io.results.programs.surroundings import moment
from xc40io.run.result import Result
from xc40io.workloads.io500.checks import invalid_settings
from xc40io.workloads.io500.ini import SECTIONS, format_ini
from xc40io.workloads.io500.outcome import PHASES, Io500Outcome, Io500Phase
from xc40io.workloads.io500.settings import Settings, hash_of_pairs

VERSION = "io500-sc25+xc40io"
"""IO500's version whose output this is; the part behind ``+`` says who made it."""

_INVALID = " [INVALID]"


OPTION = "[global] resultdir"
"""What names the folder of the files."""

RESULT_FILES = ("result.txt", "result_summary.txt", "config.ini")
"""Names of the files in it, as :func:`result_files` writes them."""


def format_summary(outcome: Io500Outcome) -> str:
    """Print what IO500 writes to ``result_summary.txt``: a line a phase, and the score."""
    lines = [f"IO500 version {VERSION} (standard)"]
    for phase in outcome.phases:
        kind = "[RESULT]" if phase.group else "[      ]"
        unit = "GiB/s" if phase.name.startswith("i") else "kIOPS"
        invalid = _INVALID if phase.wrong else ""
        lines.append(
            f"{kind} {phase.name:>20} {phase.score:>15.6f} {unit} : time {phase.seconds:.3f} "
            f"seconds{invalid}"
        )
    lines.append(
        f"[SCORE ] Bandwidth {outcome.bandwidth:f} GiB/s : IOPS {outcome.operations:f} kiops : "
        f"TOTAL {outcome.score:f}{'' if outcome.valid else _INVALID}"
    )
    return "\n".join(lines) + "\n"


def format_answer(outcome: Io500Outcome) -> str:
    """Print what IO500 prints: the summary, what is not valid, and where the results are."""
    settings = Settings(outcome.given, outcome.timestamp)
    shown = [f"ERROR INVALID {sentence}" for sentence in invalid_settings(settings)]
    phases = {phase.name: phase for phase in outcome.phases}
    for line in format_summary(outcome).splitlines():
        name = next((word for word in line.split() if word in phases), None)
        wrong = phases[name].wrong if name is not None else ()
        shown += (f"ERROR INVALID {sentence}" for sentence in wrong)
        shown.append(line)
    folder = settings.result_folder
    return "\n".join([*shown, "", f"The result files are stored in the directory: {folder}", ""])


def format_result(outcome: Io500Outcome) -> str:
    """Print what IO500 writes to ``result.txt``: a section a phase, with its command."""
    settings = Settings(outcome.given, outcome.timestamp)
    lines = [
        "[run]",
        _pair("procs", outcome.ranks),
        _pair("version", VERSION),
        _pair("config-hash", f"{config_hash(settings):X}"),
        _pair("result-dir", settings.result_folder),
        _pair("mode", "standard"),
        *(f"; ERROR INVALID {sentence}" for sentence in invalid_settings(settings)),
    ]
    dated = settings.count("global", "verbosity") > 0
    if dated:
        lines.append(f"; START {_date(0.0)}")
    lines.append("")
    for phase in outcome.phases:
        lines += ["", f"[{phase.name}]", *_phase_lines(phase, settings)]
    if not outcome.finished:
        lines += ["", f"; ERROR INVALID {len(outcome.phases)} of {len(PHASES)} phases have ended"]
    lines += ["", "[SCORE]", *_score_lines(outcome)]
    if dated:
        lines.append(f"; END {_date(sum(phase.seconds for phase in outcome.phases))}")
    return "\n".join(lines) + "\n"


def _phase_lines(phase: Io500Phase, settings: Settings) -> Iterator[str]:
    """Yield the section of a phase."""
    verbosity = settings.count("global", "verbosity")
    if verbosity > 0:
        yield _pair("t_start", _date(phase.start))
    ran = settings.runs(phase.name)
    command = settings.command(phase.name) if ran or phase.name != "find" else []
    if command:
        yield _pair("exe", " ".join(command))
    early = [sentence for sentence in phase.wrong if sentence.startswith("Write phase")]
    yield from (f"; ERROR INVALID {sentence}" for sentence in early)
    yield from _figures(phase, settings, verbosity)
    if phase.change is not None:
        yield (
            f"; SIMULATED {phase.simulated:.4f} s of it: the last rates differ by "
            f"{100 * phase.change:.2f} %"
        )
    elif phase.scale != 1.0:
        yield f"; SIMULATED {phase.simulated:.4f} s of it"
    yield from (f"; ERROR INVALID {sentence}" for sentence in phase.wrong if sentence not in early)
    if phase.name != "timestamp":
        yield _pair("score", f"{phase.score:f}")
    if verbosity > 0:
        yield _pair("t_delta", f"{phase.seconds:.4f}")
        yield _pair("t_end", _date(phase.start + phase.seconds))


def _figures(phase: Io500Phase, settings: Settings, verbosity: int) -> Iterator[str]:
    """Yield what only some phases tell."""
    if phase.name == "find" and settings.runs("find"):
        if settings.text("find", "nproc"):
            yield _pair("nproc", settings.text("find", "nproc"))
        yield _pair("found", phase.found)
        yield _pair("total-files", phase.total)
    if phase.name.endswith("-write") and phase.stonewall_rate is not None:
        if phase.name.startswith("ior"):
            if verbosity > 1:
                yield _pair("accessed-pairs", phase.accessed)
            yield _pair("throughput-stonewall", f"{phase.stonewall_rate:.2f}")
        else:
            yield _pair("rate-stonewall", f"{phase.stonewall_rate:f}")


def _score_lines(outcome: Io500Outcome) -> Iterator[str]:
    invalid = "" if outcome.valid else " " + _INVALID
    yield _pair("MD", f"{outcome.operations:f}")
    yield _pair("BW", f"{outcome.bandwidth:f}")
    yield _pair("SCORE", f"{outcome.score:f}{invalid}")
    yield _pair("hash", f"{hash_of_pairs(_hashed(outcome)):X}")


def _hashed(outcome: Io500Outcome) -> Iterator[tuple[str, str]]:
    """Yield what the hash of a result is made of."""
    yield "version", VERSION
    for phase in outcome.phases:
        if phase.group:
            yield phase.name, f"{phase.score:f}"
    yield "MD", f"{outcome.operations:f}"
    yield "BW", f"{outcome.bandwidth:f}"
    yield "SCORE", f"{outcome.score:f}"
    if not outcome.valid:
        yield "valid", "NO"


def config_hash(settings: Settings) -> int:
    """Return the hash of all options that have a value."""
    return hash_of_pairs(_options(settings))


def _options(settings: Settings) -> Iterable[tuple[str, str]]:
    for section, options in SECTIONS.items():
        for name, option in options.items():
            value = settings.given.get(section, {}).get(name, option.default)
            if value is not None:
                yield name, value


def _pair(name: str, value: object) -> str:
    return f"{name:<15} = {value}"


def _date(seconds: float) -> str:
    return moment(seconds).strftime("%Y-%m-%d %H:%M:%S")


class Io500Output(Output, of=Io500Outcome):
    """What the run of IO500 tells."""

    @property
    def answer(self) -> str:
        """IO500's answer."""
        return format_answer(io500_outcome(self.result))

    def files(self) -> list[OutputFile]:
        """Return the files that IO500 leaves in its folder."""
        return result_files(io500_outcome(self.result))

    def document(self, *, exact: bool = False) -> dict[str, Any]:
        """Arrange the run.

        Returns
        -------
        dict
            ``io500`` (its version), ``config`` (the options that are set), ``config_hash``,
            ``ranks``, ``phases``, ``score`` (GiB/s, thousand operations/s, and both), ``files``
            (the striping of IOR's files) and ``xc40io``, as :meth:`Output.document` has
            them.
        """
        outcome = io500_outcome(self.result)
        told = super().document(exact=exact)
        settings = Settings(outcome.given, outcome.timestamp)
        return {
            "io500": VERSION,
            "config": outcome.given,
            "config_hash": f"{config_hash(settings):X}",
            "ranks": outcome.ranks,
            "phases": [_phase_document(phase, settings) for phase in outcome.phases],
            "score": {
                "bandwidth_gib_per_second": outcome.bandwidth,
                "thousand_operations_per_second": outcome.operations,
                "total": outcome.score,
                "valid": outcome.valid,
            },
            "files": {
                name: files for name, files in told["files"].items() if "/mdtest-" not in name
            },
            "xc40io": told["xc40io"],
        }


def result_files(outcome: Io500Outcome) -> list[OutputFile]:
    """Return the files of a run, finished or not."""
    folder = Settings(outcome.given, outcome.timestamp).result_folder
    texts = (format_result(outcome), format_summary(outcome), format_ini(outcome.given))
    return [
        OutputFile(f"{folder}/{name}", OPTION, text)
        for name, text in zip(RESULT_FILES, texts, strict=True)
    ]


def io500_outcome(result: Result) -> Io500Outcome:
    """Return the outcome of IO500.

    Raises
    ------
    InputError
        If it was no run of IO500.
    """
    if not isinstance(result.outcome, Io500Outcome):
        raise InputError("the run is not one of IO500; its results are its rows")
    return result.outcome


def _phase_document(phase: Io500Phase, settings: Settings) -> dict[str, Any]:
    return {
        "phase": phase.name,
        "group": phase.group,
        "command": " ".join(settings.command(phase.name)),
        "score": phase.score,
        "start": phase.start,
        "seconds": phase.seconds,
        "simulated_seconds": phase.simulated,
        "scale": phase.scale,
        "change": phase.change,
        "stonewall_rate": phase.stonewall_rate,
        "found": phase.found,
        "total_files": phase.total,
        "wrong": list(phase.wrong),
    }
