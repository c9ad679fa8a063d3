"""Claims: what was published of a machine, and the runs that show whether it holds here too.

The files under ``validation/claims`` are mappings of two parts. ``bases`` are pieces of scenarios,
by name: a run names one as its ``base`` and says what differs, part by part, and a base may have a
base itself. They can be used from every file. ``claims`` has an entry for each row of
``targets.csv``::

    bases:
      shared-file: {machine: theta, nodes: 256, ppn: 16, striping: {count: 48, size: 8m}}
    claims:
      - id: B02
        role: check
        runs:
          large: {base: shared-file, workload: {ior: -a POSIX -w -e -b 8m -t 8m}}
        metric: write(large)
        relation: {value: 60 GB/s, tolerance: 25%}
      - id: [C04, C05]
        not_expressed: the burst buffer is not modelled

A third part, ``values``, has what was measured of the machine itself and needs no fit::

    values:
      lustre.max_dirty: {value: 64 MiB, source: "lctl get_param, May 2026", firm: measured}

A row of which there is more to say than one claim can has several: ``B08``, ``B08.raw``. A
measurement of one's own, in a file of one's own, has no row there; it says its ``source``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf, model_validator

from xc40io.config.errors import InputError
from xc40io.config.files import read_mapping
from xc40io.config.model import Model, checked
from xc40io.config.parts.provenance import separate
from xc40io.config.reading import reading
from xc40io.config.scenario import Scenario
from xc40io.config.units import Count
from xc40io.validation.bases import machine_found, scenario_of
from xc40io.validation.machine_edit import NewValue
from xc40io.validation.metric import Metric, check_runs, parse_metric
from xc40io.validation.parameter import Parameter, parse_parameter
from xc40io.validation.quantity import NUMBER
from xc40io.validation.relation import Relation, RunName
from xc40io.validation.target import FOLDER, Target, load_targets, own_target

Role = Literal["calibration", "check", "input"]
"""``calibration``: a parameter was fitted to it. ``check``: none was. ``input``: the row is itself
a parameter of the machine, or one was taken from its number, so that its run confirms nothing."""

Statistic = Literal["median", "mean", "largest", "smallest", "variation"]
"""How the seeds of a run become one number; ``variation`` is standard deviation over mean."""


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _by_text(value: object) -> object:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


RunNames = Annotated[tuple[RunName, ...], BeforeValidator(_tuple)]


class Claim(Model):
    """One claim."""

    id: str  #: Of its row in ``targets.csv``; behind a dot, which of the claims of that row it is.
    text: str = ""  #: What it claims, in a few words; that of the row unless given.
    group: str = ""  #: For the summary; that of the row unless given.
    role: Role | None = None  #: See :data:`Role`.
    #: For a calibration: the parameters that were fitted to it, by dotted path. For an input with
    #: runs: those that were taken from its number, or fitted to a row that reads the same off the
    #: same run.
    parameters: Annotated[tuple[str, ...], BeforeValidator(_tuple)] = ()
    #: The scenarios by name, in an order that matters for trends.
    runs: dict[str, Scenario] = Field(default_factory=dict)
    #: The runs in several series, each in its order, where the relation is about more than one.
    series: Annotated[dict[str, RunNames], BeforeValidator(_by_text)] = Field(default_factory=dict)
    seeds: Count = 1  #: Each scenario runs with the seeds 1 to this one; with 1, with its own.
    statistic: Statistic = "median"  #: See :data:`Statistic`.
    #: What is looked at in the runs.
    metric: Annotated[InstanceOf[Metric] | None, BeforeValidator(parse_metric)] = None
    #: For a row that is itself a parameter: which one, of which machine.
    parameter: Annotated[InstanceOf[Parameter] | None, BeforeValidator(parse_parameter)] = None
    machine: str | None = None
    #: For a metric that is about a machine, as ``mpi(allreduce, 4 KiB)``: on how many of its nodes.
    #: They stand in place of the runs, and are their names.
    nodes: Annotated[tuple[Count, ...], BeforeValidator(_tuple)] = ()
    relation: Relation | None = None  #: What must hold.
    fast: bool = False  #: Whether it belongs to the fast subset.
    full: bool = False  #: Whether it runs only when everything is asked for, because it takes long.
    #: Why it is shown without a verdict, if it is; its numbers count in no median then.
    unjudged: str = ""
    source: str = ""  #: Where it was measured, for a measurement that is no row of ``targets.csv``.
    note: str = ""  #: How the row was read, where that is not plain.
    suspect: str = ""  #: Suspected cause, for a claim that fails.
    #: Why nothing is run for it: what the simulator lacks, or what the row does not say.
    not_expressed: str = ""

    @property
    def target(self) -> Target:
        """The published row; of a measurement of one's own, what the claim says of it."""
        if not self.source:
            return load_targets()[self.row]
        return own_target(self.row, self.group, self.text, self.note, self.source)

    @property
    def row(self) -> str:
        """The id of the published row that it is about."""
        return self.id.partition(".")[0]

    @property
    def title(self) -> str:
        """What it claims, in a few words."""
        return self.text or self.target.claim

    @property
    def family(self) -> str:
        """The group that it counts in."""
        return self.group or self.target.group

    @property
    def curves(self) -> dict[str, tuple[str, ...]]:
        """The series of runs by name; all runs in one, without a name, unless said otherwise."""
        return dict(self.series) or {"": self.names}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs, or the numbers of nodes that stand in their place."""
        return tuple(self.runs) or tuple(str(count) for count in self.nodes)

    def counts(self, point: str) -> bool:
        """Whether a measured number, by the name of its point, counts in medians and the score.

        None does of a claim without a verdict. Of a distribution only its median does, and not if
        the claim is a further one of its row, as ``E40.days``, whose median is that of ``E40``.
        """
        if self.unjudged:
            return False
        if self.relation is None or self.relation.quantiles is None:
            return True
        return point == "p50" and self.id == self.row

    def seeded(self, run: str) -> list[Scenario]:
        """Return the scenarios of a run, one for each seed."""
        scenario = self.runs[run]
        if self.seeds == 1:
            return [scenario]
        seeds = range(1, self.seeds + 1)
        return [scenario.model_copy(update={"seed": seed}) for seed in seeds]

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Claim:
        if not self.source and self.row not in load_targets():
            raise ValueError(
                f"id = {self.id!r}: there is no such row in targets.csv; a measurement of your own "
                "says its source, as source: IOR on our machine, May 2026"
            )
        if self.source and not self.text:
            raise ValueError(
                f"id = {self.id!r}: text is missing: what was measured, in a few words"
            )
        kinds = (self.not_expressed, self.parameter, self.runs, self.nodes)
        if sum(map(bool, kinds)) != 1:
            raise ValueError("right would be one of runs, parameter, nodes and not_expressed")
        if self.not_expressed and (self.metric or self.relation or self.role or self.machine):
            raise ValueError("not_expressed leaves no place for metric, relation, role or machine")
        if self.parameter is not None:
            self._check_parameter()
        if self.names:
            self._check_runs()
        return self

    def _check_parameter(self) -> None:
        relation = self.relation
        if self.machine is None or relation is None or self.metric is not None:
            raise ValueError("a parameter needs machine and relation, and has no metric")
        if self.role not in (None, "input"):
            raise ValueError(f"role = {self.role}: right would be input, of a parameter")
        if relation.is_trend or relation.quantiles or relation.values:
            raise ValueError("relation: of a parameter, right would be value, equals or bounds")

    def _check_runs(self) -> None:
        metric, relation = self.metric, self.relation
        if metric is None or relation is None:
            raise ValueError("runs need metric and relation")
        if bool(self.nodes) != (self.machine is not None) or bool(self.nodes) != metric.of_machine:
            raise ValueError("machine, nodes and a metric as mpi(bcast, 4 KiB) belong together")
        if self.role is None:
            raise ValueError("role is missing; right would be check, calibration or input")
        if (self.role == "check") == bool(self.parameters):
            raise ValueError(
                f"role = {self.role}: parameters belong to the roles calibration and input, and "
                "are needed there"
            )
        if self.fast and self.full:
            raise ValueError("a claim is fast or full, not both")
        check_runs(metric, self.names)
        relation.check(NUMBER if self.statistic == "variation" else metric.dimension)
        self._check_names(relation)
        self._check_numbers(metric, relation)

    def _check_names(self, relation: Relation) -> None:
        """Raise ValueError if the relation or a series names a run that there is not."""
        named = [name for names in self.series.values() for name in names]
        named += relation.runs
        for name in named:
            if name not in self.names:
                raise ValueError(f"{name!r} is not one of the runs {', '.join(self.names)}")

    def _check_numbers(self, metric: Metric, relation: Relation) -> None:
        """Raise ValueError if the relation asks for one number of several, or the reverse."""
        several = metric.of_each and len(self.names) > 1
        if (relation.is_trend or relation.values) and not several:
            raise ValueError("relation: a trend needs a metric of each of several runs, as write")
        single = {"value", "ratio", "quantiles"} & set(relation.kinds)
        if single and several:
            raise ValueError(f"relation: {single.pop()} is of one run; right would be write(RUN)")
        if relation.equals is not None:
            raise ValueError("relation: equals is for parameters; right would be value")
        if relation.quantiles is not None and self.seeds < 2:
            raise ValueError("relation: quantiles need several seeds")
        pairs = relation.crossover or (relation.peak and relation.peak.moves)
        if pairs and len(self.series) < 2:
            raise ValueError("relation: a crossover, or a peak that moves, needs several series")
        if pairs and len({len(names) for names in self.series.values()}) > 1:
            raise ValueError("series: those that are compared have as many runs each")


DIRECTIONS = "Rules of users' guides"
"""The group of claims that are such rules: one setting is faster than another."""


def is_direction(claim: Claim) -> bool:
    """Tell whether a claim is a rule of users' guides."""
    return claim.family == DIRECTIONS


_PARTS = {"bases": dict, "claims": list, "values": dict}


def load_claims(files: Iterable[Path] | None = None) -> dict[str, Claim]:
    """Read and check claims.

    Parameters
    ----------
    files
        Where they are; those that come with xc40io unless given.

    Returns
    -------
    dict
        The claims by their ids, in the order of the files and within them.

    Raises
    ------
    InputError
        If a file does not say what it should; the message names it, the claim, the field and what
        would be right. Whether there is such a machine shows when the claim is run.
    """
    return dict(_of_folder(FOLDER / "claims")) if files is None else _read(list(files))


def load_values(file: Path) -> dict[str, NewValue]:
    """Read the values of the machine that stand beside claims and need no fit, by their paths.

    Raises
    ------
    InputError
        As of :func:`load_claims`; or if a value has no source.
    """
    return _values(_document(file), file)


@cache  # to check all that ship takes a second
def _of_folder(folder: Path) -> Mapping[str, Claim]:
    return _read(sorted(folder.glob("*.yaml")))


def _read(paths: Sequence[Path]) -> dict[str, Claim]:
    """Return the claims of files."""
    documents = {path: _document(path) for path in paths}
    bases = _all_bases(documents)
    claims: dict[str, Claim] = {}
    for path, document in documents.items():
        with reading(path, "claims, as in validation/claims"):
            found = [
                claim for one in document.get("claims") or [] for claim in _claims(one, bases, path)
            ]
        for claim in found:
            if claim.id in claims:
                raise InputError(
                    f"{path}: claim {claim.id} is given twice; a second claim of the same row "
                    f"is called {claim.id.partition('.')[0]}.SOMETHING"
                )
            claims[claim.id] = claim
    return claims


def _document(path: Path) -> dict[str, Any]:
    """Return what a file holds, its parts of the right kinds."""
    document = read_mapping(path)
    for name, part in document.items():
        if name not in _PARTS:
            raise InputError(
                f"{path}: {name}: there is no such part; there are {', '.join(_PARTS)}"
            )
        if part is not None and not isinstance(part, _PARTS[name]):
            kind = "a mapping" if _PARTS[name] is dict else "a list"
            raise InputError(f"{path}: {name} = {part!r}; right would be {kind}")
    _values(document, path)
    return document


def _values(document: Mapping[str, Any], path: Path) -> dict[str, NewValue]:
    values, provenance = separate(document.get("values") or {}, f"{path}: values")
    for name in values.keys() - provenance.keys():
        raise InputError(
            f"{path}: values: {name} is a section; right would be each value by its whole path, "
            f"as in {name}.NAME: {{value: ..., source: ..., firm: measured}}"
        )
    return {
        name: NewValue(
            value if isinstance(value, str) else json.dumps(value),
            provenance[name].source,
            provenance[name].firm,
        )
        for name, value in values.items()
    }


def _all_bases(documents: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    bases: dict[str, Any] = {}
    for path, document in documents.items():
        for name, base in (document.get("bases") or {}).items():
            if name in bases:
                raise InputError(f"{path}: base {name} is given twice; once is right")
            if not isinstance(base, dict):
                raise InputError(f"{path}: base {name} = {base!r}; right would be a mapping")
            bases[str(name)] = base
    return bases


def _claims(entry: object, bases: Mapping[str, Any], path: Path) -> list[Claim]:
    """Return the claims of one entry; it may have several ids."""
    if not isinstance(entry, dict) or "id" not in entry:
        raise InputError(f"{path}: claims: {entry!r} has no id; right would be {{id: B02, ...}}")
    ids = entry["id"] if isinstance(entry["id"], list) else [entry["id"]]
    if len(ids) > 1 and "not_expressed" not in entry:
        raise InputError(f"{path}: {ids}: several ids are for claims that are not_expressed")
    return [_claim(entry | {"id": name}, bases, path) for name in ids]


def _claim(entry: dict[str, Any], bases: Mapping[str, Any], path: Path) -> Claim:
    place = f"{path}: {entry['id']}"
    runs = entry.get("runs") or {}
    if not isinstance(runs, dict):
        raise InputError(
            f"{place}: runs = {runs!r}; right would be a mapping of names to scenarios"
        )
    entry = entry | {
        "runs": {
            _run_name(name, place): scenario_of(run, bases, f"{place}: run {name}", path.parent)
            for name, run in runs.items()
        }
    }
    if "machine" in entry:
        entry["machine"] = machine_found(entry["machine"], path.parent)
    return checked(Claim, entry, place)


def _run_name(name: object, place: str) -> str:
    if isinstance(name, bool) or any(sign in str(name) for sign in "(),*/"):
        raise InputError(
            f"{place}: run {name!r}: right would be a name without ( ) , * or /, in quotes if YAML "
            "takes it for something else"
        )
    return str(name)
