"""What every study returns: a table, and where its runs are kept, how many were known before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from xc40io.telling.data import frame

if TYPE_CHECKING:
    import pandas as pd

    from xc40io.telling.answer import Table


@dataclass(frozen=True)
class StudyResult(ABC):
    """What a study returns."""

    _: KW_ONLY
    exact: bool = False  # whether how sure its figures are is not to be told

    @property
    @abstractmethod
    def table(self) -> Table:
        """What it tells pandas, and ``--csv``."""

    def to_pandas(self) -> pd.DataFrame:
        """Return its table: docs/python.md, docs/sweep.md, docs/plan.md.

        What there is not is NaN, or empty.
        """
        return frame(self.table)


@dataclass(frozen=True)
class KeptStudy(StudyResult):
    """What a study returns whose runs are kept, each as soon as it has finished."""

    _: KW_ONLY
    simulated: int  # runs
    recalled: int  # runs that had been simulated before
    notes: tuple[str, ...]  # what the user should know: a sentence each
