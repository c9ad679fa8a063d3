"""The runs of all pages: asked for, made by workers, and known from then on."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from copy import copy
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from xc40io.config.errors import FailureError, InputError
from xc40io.config.units import SHORT_SIZES
from xc40io.results.animation.document import animation_html
from xc40io.results.pictures.heat import OSTS, heat_of
from xc40io.results.pictures.scene import Scene, scene_of
from xc40io.results.run_page import page_tables
from xc40io.results.run_text import job_line
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.serving.line import Asking
from xc40io.serving.question_limits import Limits, bulk_rpcs
from xc40io.serving.worker import Desk
from xc40io.serving.workers import Workers
from xc40io.studies.case import Case
from xc40io.studies.run_answer import run_answer
from xc40io.telling.answer import Fold
from xc40io.telling.data import document_of
from xc40io.telling.html import fragment
from xc40io.trust.how_sure import Interval
from xc40io.web.settings import Settings, bytes_of
from xc40io.web.translation import scenario_of


class WaitShare(BaseModel):
    """What ranks waited for in a phase."""

    cause: str
    words: str
    share: float  # of the phase's time, 0 to 1; of a rank, on average


class PhaseOutcome(BaseModel):
    """A phase."""

    phase: str  # ``write`` or ``read``
    seconds: float  # simulated
    bytes: int  # that all ranks moved
    real: Interval | None = None  # where nine of ten real runs would lie: bytes/s
    verdict: str  # what bound it; empty where nothing is known
    waits: list[WaitShare]  # longest first; the shares add up to 1

    @property
    def bandwidth(self) -> float:
        """Bytes/s."""
        return self.bytes / self.seconds


class Finding(BaseModel):
    """A pattern that strikes."""

    name: str
    sentence: str


class HeatMap(BaseModel):
    """How busy the disk arrays of OSTs were over time."""

    osts: list[int]  # the number of each row
    width: float  # simulated seconds of a column
    busy: list[list[float]]  # a row for each OST, a column for each span of time: per cent


class Outcome(BaseModel):
    """What the page shows of a run: small enough to travel from a worker, and plain as JSON."""

    setup: str  # where and how it ran, in a sentence
    findings: list[Finding]
    phases: list[PhaseOutcome]
    heat: HeatMap | None  # None where no OST had anything to do
    notes: list[str]
    troubles: list[str]
    tables: str  # of the run, as its page has them: HTML
    events: int
    rpcs: int
    simulated: float  # seconds


class Animation(BaseModel):
    """A small run as a moving picture."""

    setup: str  # where and how it ran, and whether it is smaller than what was asked for
    html: str  # a whole document, the player included


Answer = TypeVar("Answer", bound=BaseModel)
"""What comes of a run."""


class Kind(NamedTuple, Generic[Answer]):
    """What is made of a setting."""

    work: str  # what workers are asked for, by its name
    answer: type[Answer]
    kept: int  # how many: the same setting has the same outcome
    small: bool  # whether it is little work, whatever the setting


SIMULATED = Kind(f"{__name__}:run", Outcome, kept=128, small=False)
ANIMATED = Kind(f"{__name__}:animate", Animation, kept=16, small=True)
WARM = f"{__name__}:warm"
"""What workers do before the first question."""

_PER_CENT = 100.0
_ANIMATED, _FEWEST = 800, 4
"""RPCs, calls and locks that an animation has at most, about; nodes and ranks that it keeps."""
_DIGITS = 1  # of a share in per cent

_Known = OrderedDict[Settings, Any]


class Run(Generic[Answer]):
    """A run of a setting: waiting, under way or ended. A page looks at it from time to time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.place = 0  # in the line of those that wait; 0: it has its turn
        self.done = 0  # bytes moved so far
        self.total = 0  # bytes to move; 0 until it is known
        self.outcome: Answer | None = None  # when it has ended well
        self.error = ""  # a sentence, when it has not
        self.cancelled = False
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self.outcome is not None or bool(self.error) or self.cancelled

    def cancel(self) -> None:
        """Give it up; the process that works on it is ended."""
        if not self.over:
            self.cancelled = True
            if self._task is not None:
                self._task.cancel()

    def begin(self, workers: Workers, kind: Kind[Answer], known: _Known, visitor: str) -> None:
        """Have a worker make it for a visitor; needs a running loop."""
        asking = Asking(visitor, 0.0 if kind.small else _cost(self.settings, workers.limits))
        work = self._work(workers, kind, known, asking)
        self._task = asyncio.get_running_loop().create_task(work)

    async def _work(
        self, workers: Workers, kind: Kind[Answer], known: _Known, asking: Asking
    ) -> None:
        try:
            asked = self.settings.model_dump()
            document = await workers.answer(kind.work, asked, self._report, self._placed, asking)
        except (InputError, FailureError) as error:
            self.error = str(error)
            return
        self.outcome = known[self.settings] = kind.answer.model_validate(document)
        while len(known) > kind.kept:
            known.popitem(last=False)

    async def _report(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def _placed(self, place: int) -> None:
        self.place = place


def _cost(settings: Settings, limits: Limits) -> float:
    """Return how much work a run is, about; nothing where it is refused at once."""
    try:
        return limits.cost(Case(scenario_of(settings)))
    except (InputError, FailureError):
        return 0.0


class Runs:
    """Where pages have runs made, for one visitor; what is known from others is known to all."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._known: dict[str, _Known] = {}
        self._visitor = ""

    def of(self, visitor: str) -> Runs:
        """Return the same for another visitor."""
        other = copy(self)
        other._visitor = visitor
        return other

    def start(self, settings: Settings, kind: Kind[Answer]) -> Run[Answer]:
        """Return the run of a setting: ended if it is known already, else waiting for its turn."""
        known = self._known.setdefault(kind.work, OrderedDict())
        run: Run[Answer] = Run(settings)
        run.outcome = known.get(settings)
        if run.outcome is None:
            run.begin(self._workers, kind, known, self._visitor)
        else:
            known.move_to_end(settings)
        return run


def run(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Make the run of a setting, of which the fields are given; return its outcome as JSON has it.

    The desk is told the bytes moved so far and those to move.

    Raises
    ------
    InputError
        If there can be no such run, or it is too large.
    """
    scenario = scenario_of(Settings.model_validate(asked))
    desk.limits.check_size(Case(scenario))
    result = simulate(scenario, progress=desk.tell)
    return outcome_of(result).model_dump(mode="json")


def animate(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Record a small run of a setting; return its animation as JSON has it.

    Raises
    ------
    InputError
        If there can be no such run, or nothing of it goes to Lustre.
    """
    settings = Settings.model_validate(asked)
    if not settings.striped:
        raise InputError("only files on Lustre can be animated; right would be Files on: Lustre")
    small = small_of(settings)
    result = simulate(scenario_of(small), progress=desk.tell, record=True)
    setup = f"{job_line(result)}."
    if small != settings:
        differs = ", ".join(f"{one.noun} {one.others}" for one in settings.differences(small))
        setup = f"A smaller run with otherwise the same settings, small enough to see: {differs}."
    return Animation(setup=setup, html=animation_html(result)).model_dump(mode="json")


def small_of(settings: Settings) -> Settings:
    """Return the setting made small enough for an animation: fewer nodes, ranks, calls."""
    small = settings.model_copy(update={"rpcs_as_one": 1})
    for name in ("nodes", "ppn"):
        while _too_much(small) and getattr(small, name) > _FEWEST:
            small = small.model_copy(update={name: max(getattr(small, name) // 2, _FEWEST)})
    while _too_much(small) and small.calls > 1:
        block = SHORT_SIZES.write(small.calls // 2 * bytes_of(small.transfer))
        small = small.model_copy(update={"block": block})
    return small


def _too_much(settings: Settings) -> bool:
    case = Case(scenario_of(settings))
    ranks = settings.nodes * settings.ppn
    calls = ranks * settings.calls
    stripes = case.machine.lustre.osts if settings.stripe_count < 0 else settings.stripe_count
    return max(bulk_rpcs(case), calls, ranks * stripes) > _ANIMATED


def warm() -> None:
    """Make a tiny run, so that the first that is asked for finds all code loaded."""
    simulate(scenario_of(Settings(nodes=1, ppn=1, block="1m", transfer="1m", stripe_count=1)))


def outcome_of(result: Result) -> Outcome:
    """Return what the page shows of a run."""
    told = document_of(run_answer(result.scenario, {"": result}))
    tables = Fold("All tables of the run", page_tables(result))
    return Outcome.model_validate(
        told
        | {"setup": job_line(result), "tables": fragment([tables])}
        | {"heat": _heat(scene_of(result))}
        | {name: getattr(result, name) for name in ("events", "rpcs", "simulated")}
    )


def _heat(scene: Scene) -> HeatMap | None:
    heat = heat_of(scene, OSTS)
    if heat is None:
        return None
    busy = (_PER_CENT * heat.busy).round(_DIGITS).tolist()
    return HeatMap(osts=list(heat.numbers), width=heat.clock.width, busy=busy)
