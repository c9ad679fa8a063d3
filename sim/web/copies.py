"""A setting as what a person can copy: a command, a program, a link."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from sim.config.errors import InputError
from sim.config.files import explain, nearest
from sim.web.settings import Settings
from sim.web.translation import HINTS, hint_text, ior_words

_B = "b."
_COMPARE, _RUN = "compare", "run"
_ASIDE = frozenset({_COMPARE, _RUN})
_MOST = 4096  # letters of a link


def command_of(settings: Settings) -> str:
    """Return the command that makes the run of a setting: ``xc40io ior ... -- -a POSIX ...``."""
    job = ["--machine", settings.machine, "--nodes", settings.nodes, "--ppn", settings.ppn]
    if settings.striped:
        job += ["--stripe-count", settings.stripe_count] if settings.stripe_count else []
        job += ["--stripe-size", settings.stripe_size] if settings.stripe_size else []
    else:
        job += ["--target", settings.target]
    hints = hint_text(settings)
    job += ["--hints", hints] if hints else []
    job += ["--rpcs-as-one", settings.rpcs_as_one] if settings.rpcs_as_one > 1 else []
    job += ["--seed", settings.seed] if settings.seed != 1 else []
    return shlex.join(["xc40io", "ior", *map(str, job), "--", *ior_words(settings)])


def python_of(settings: Settings) -> str:
    """Return a program that makes the run of a setting and prints its phases."""
    fields: dict[str, Any] = {
        "machine": settings.machine,
        "nodes": settings.nodes,
        "ppn": settings.ppn,
    }
    if settings.rpcs_as_one > 1:
        fields["rpcs_as_one"] = settings.rpcs_as_one
    if settings.striped:
        striping = {"count": settings.stripe_count or None, "size": settings.stripe_size or None}
        fields["striping"] = {name: value for name, value in striping.items() if value is not None}
    else:
        fields["target"] = settings.target
    if hints := hint_text(settings):
        fields["environment"] = {HINTS: hints}
    fields["workload"] = {"ior": " ".join(ior_words(settings))}
    fields["seed"] = settings.seed
    lines = [f"    {name}={_quoted(value)}," for name, value in fields.items() if value != {}]
    return "\n".join(
        [
            "import sim",
            "",
            "scenario = sim.Scenario(",
            *lines,
            ")",
            "result = sim.simulate(scenario)",
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


class State(NamedTuple):
    """What the page shows.

    Attributes
    ----------
    a
        The setting.
    b
        The one beside it; None if there is none.
    run
        Whether it is run when the page opens.
    """

    a: Settings
    b: Settings | None = None
    run: bool = False

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
            raise InputError(f"the link says {name!r}, which is no setting{nearest(name, known)}")
    a = checked({name: text for name, text in pairs.items() if name in Settings.model_fields})
    b = None
    if _COMPARE in pairs:
        own = {name.removeprefix(_B): text for name, text in pairs.items() if name.startswith(_B)}
        b = checked(a.model_dump() | own)
    return State(a, b, _RUN in pairs)


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
