"""What a tuning tells of others: what they did meanwhile, and what the settings do to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from statistics import mean
from typing import Any

from xc40io.config.machine import Machine
from xc40io.config.scenario import machine_of
from xc40io.config.units import format_rate, format_seconds
from xc40io.studies.advice.weighing import TIE
from xc40io.studies.ratio import Ratio
from xc40io.studies.tune.company import MixOutcome, SettingBesideJobs
from xc40io.studies.tune.trial import Trial
from xc40io.studies.tune.tuning import Tuning
from xc40io.telling.answer import Block, Table, Text, plain_table
from xc40io.topology.text import format_count

_READS = "lustre.other_reads"


def beside_words(found: Tuning) -> str:
    """Return beside what the gain was found, behind the times: empty on an idle machine."""
    if found.beside.usual:
        return " beside the usual load"
    return f" beside the jobs of {found.beside.name}" if found.company is not None else ""


def told_seconds(found: Tuning) -> tuple[float, float]:
    """Return the seconds now and with the best that the answer begins with."""
    if found.company is not None:
        return found.company.now.seconds, found.company.best.seconds
    if found.idle is not None and found.confirmed is not None:
        return mean(found.confirmed[0]), mean(found.confirmed[1])
    return found.present.mean, found.best.mean


def beside_blocks(found: Tuning) -> Iterator[Block]:
    """Yield what there is to tell of others; nothing where the job was alone."""
    if found.beside.usual:
        yield Text("\n".join(_load_words(found)))
        if found.idle is not None and found.confirmed is not None:
            yield _usual_table(found)
            yield Text(_cost_words(found))
    if found.company is not None:
        yield Text("\n".join(_company_words(found, found.company)))
        yield _company_table(found, found.company)
        yield Text(_chosen_words(found.company))


def _machine(found: Tuning) -> Machine:
    return machine_of(found.present.scenario)


def _load_words(found: Tuning) -> Iterator[str]:
    """Say which load it was, and where it is from."""
    machine = _machine(found)
    lustre, source = machine.lustre, _source(machine)
    yield (
        f"Beside the usual load of {machine.name}: on average others read "
        f"{format_rate(lustre.other_reads, 2)} and write {format_rate(lustre.other_writes, 2)}, "
        "spread over all OSTs; each seed is another day."
    )
    if source:
        yield f"  Source: {source}."


def _source(machine: Machine) -> str:
    """Return where the load is from; nothing where that was not kept with the machine."""
    known = machine.provenance.get(_READS)
    return "" if known is None else known.source


def _usual_table(found: Tuning) -> Table:
    """Return the times now and with the best, beside others and alone, with the same seeds."""
    assert found.idle is not None
    assert found.confirmed is not None
    heads = ["  ", "now", "best", "times as fast"]
    rows = [
        ["  beside the usual load", *map(_mean, found.confirmed), _times(found.gain)],
        ["  alone", *map(_mean, found.idle), _times(found.idle_gain)],
    ]
    return plain_table("", heads, rows, words=range(len(heads)))


def _mean(seconds: tuple[float, ...]) -> str:
    return format_seconds(mean(seconds), 4)


def _times(ratio: Ratio | None) -> str:
    if ratio is None:
        return ""
    bounds = "" if ratio.low is None else f" ({ratio.low:.3g} to {ratio.high:.3g})"
    return f"{ratio.value:.3g}{bounds}"


def _cost_words(found: Tuning) -> str:
    """Say what the settings take of the file system."""
    now, best = (trial.records[0].osts for trial in (found.present, found.best))
    there = _machine(found).lustre.osts
    then = "" if found.best is found.present else f" now, on {best:,} with the best"
    return (
        f"To others: its files lie on {now:,} of {there:,} OSTs{then}. How long that delays others "
        "is not known here: the usual load is nobody's. --beside MIX runs jobs of others."
    )


def _company_words(found: Tuning, company: MixOutcome) -> Iterator[str]:
    """Say beside which jobs the settings were run."""
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in company.shares)
    yield (
        f"Beside the jobs of {found.beside.name}, one at a time, begun together; each counts by "
        f"its part of the time that they are in I/O: {shares}."
    )
    if company.left_out:
        yield f"  Not beside {', '.join(company.left_out)}: too large, or too little of the mix."


def _company_table(found: Tuning, company: MixOutcome) -> Table:
    """Return the settings that were run beside others: alone, beside them, and what these take."""
    heads = ["  ", *(knob.name for knob in found.space.knobs), "alone", "beside", "others take"]
    behind = count(2)
    rows = [
        [
            f"  {_name(found, company, met, behind)}",
            *found.written(met.trial.setting),
            format_seconds(met.trial.seconds[0], 4),
            format_seconds(met.seconds, 4),
            _longer(met.others),
        ]
        for met in company.met
    ]
    return plain_table("", heads, rows, words=range(len(heads)), note="  All with one seed.")


def _name(found: Tuning, company: MixOutcome, met: SettingBesideJobs, behind: Iterator[int]) -> str:
    if met.trial is company.chosen:
        return "best"
    return "now" if met.trial is found.present else f"{next(behind)}."


def _longer(times: float) -> str:
    return f"{times:.2f} times as long"


def _chosen_words(company: MixOutcome) -> str:
    """Say how the best was chosen, and what it came to with other seeds."""
    said = (
        "Best: the fastest beside them; of those as fast, within "
        f"{100 * (TIE - 1):.0f} %, what delays others least; of those, the least to change. With "
        f"{format_count(len(company.seeds), 'other seed')}: now "
    )
    now, best = (
        f"{format_seconds(met.seconds, 4)}, others take {_longer(met.others)}"
        for met in (company.now, company.best)
    )
    return (
        f"{said}{now}." if company.best.trial is company.now.trial else f"{said}{now}; best {best}."
    )


def beside_values(found: Tuning) -> dict[str, Any]:
    """Return the same for programs."""
    told: dict[str, Any] = {"kind": found.beside.kind, "name": found.beside.name}
    if found.beside.usual:
        machine = _machine(found)
        told |= {
            "others_read": machine.lustre.other_reads,
            "others_write": machine.lustre.other_writes,
            "source": _source(machine),
            "idle": _pair(found.idle),
            "beside": _pair(found.confirmed),
            "gain_idle": ratio_values(found.idle_gain),
            "osts": {
                "now": found.present.records[0].osts,
                "best": found.best.records[0].osts,
                "of": machine.lustre.osts,
            },
        }
    if found.company is not None:
        company = found.company
        told |= {
            "shares": dict(company.shares),
            "left_out": list(company.left_out),
            "settings": [_values(found, met) for met in company.met],
            "now": _values(found, company.now),
            "best": _values(found, company.best),
        }
    return told


def ratio_values(ratio: Ratio | None) -> dict[str, Any] | None:
    """Return a ratio for programs."""
    return None if ratio is None else {"times": ratio.value, "low": ratio.low, "high": ratio.high}


def _pair(seconds: tuple[tuple[float, ...], tuple[float, ...]] | None) -> dict[str, Any] | None:
    return None if seconds is None else {"now": list(seconds[0]), "best": list(seconds[1])}


def _values(found: Tuning, met: SettingBesideJobs) -> dict[str, Any]:
    return {
        "setting": setting_values(found, met.trial),
        "seconds": [one.seconds for one in met.meetings],
        "others": [one.others for one in met.meetings],
    }


def setting_values(found: Tuning, trial: Trial) -> dict[str, str]:
    """Return the values of the knobs by their names, as they are typed."""
    names = (knob.name for knob in found.space.knobs)
    return dict(zip(names, found.written(trial.setting), strict=True))
