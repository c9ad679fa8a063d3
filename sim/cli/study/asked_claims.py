"""The claims that a command is about: those that come with xc40io, or those of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click

from xc40io.config.errors import InputError, nearest
from xc40io.validation.checked_claims import check_claims
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.sensitivity import row_of

CLAIM = click.option(
    "--claim",
    "ids",
    multiple=True,
    metavar="ID",
    help="Only this claim, or the claims of this row. May be repeated.",
)


def asked_claims(
    ids: Iterable[str],
    *,
    wanted: Callable[[Claim], bool] = lambda _: True,
    full: bool = False,
    file: str | None = None,
    right: str = "fewer of them",
) -> dict[str, Claim]:
    """Return the claims that run something and were asked for.

    Parameters
    ----------
    ids
        As typed; all unless there are some.
    wanted
        What else a claim must be.
    full
        Whether those that take long are, too; one that is named is.
    file
        Where they stand; they come with xc40io unless given.
    right
        What to type where there is none.

    Raises
    ------
    InputError
        If there is none, or none of an id; if one of a file cannot be run, or not be read off it.
    """
    known = load_claims([Path(file)] if file is not None else None)
    claims = {name: claim for name, claim in known.items() if claim.runs}
    asked = set(ids)
    for name in asked - claims.keys() - set(map(row_of, claims)):
        raise InputError(
            f"--claim {name}: no claim of this id runs anything{nearest(name, claims)}"
        )
    chosen = {
        name: claim
        for name, claim in claims.items()
        if (not asked or {name, row_of(name)} & asked)
        and (full or name in asked or not claim.full)
        and wanted(claim)
    }
    if not chosen:
        raise InputError(f"no claim fits all of these options; right would be {right}")
    if file is not None:
        check_claims(chosen.values(), file)
    return chosen
