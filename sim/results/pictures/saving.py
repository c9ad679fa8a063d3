"""Figures as files: the same figure gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure into a file.

    Parameters
    ----------
    figure
        What is drawn.
    path
        Of the file.
    kind
        Its format: ``svg``, ``png`` or ``pdf``.
    """
    from matplotlib import rc_context

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with rc_context({"svg.hashsalt": "xc40io"}):  # else its names differ from run to run
        figure.savefig(path, format=kind, metadata=metadata[kind])
