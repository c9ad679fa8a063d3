"""Sentences about bad input: what is repeated of it is cut, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xc40io.config.errors import InputError, naming, shown, shown_path
from xc40io.config.faults import parse_fault
from xc40io.config.machine import load_machine
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.setstripe import read_setstripe
from xc40io.config.striping import StripeRequest
from xc40io.config.units import parse_bytes, parse_rate, parse_seconds
from xc40io.config.workload_mix import load_mix
from xc40io.mpi.hint_text import read_patterns
from xc40io.studies.advice.job_knobs import read_allowed
from xc40io.studies.advice.space import parse_limits
from xc40io.studies.axes import parse_axes
from xc40io.studies.compare.what_if_values import WhatIf
from xc40io.studies.plan.money import read_budget, read_goal
from xc40io.studies.tune.search import Budget
from xc40io.workloads.darshan.facts import facts_of
from xc40io.workloads.ior.options import parse_arguments as parse_ior
from xc40io.workloads.job_script.script import read_job_script
from xc40io.workloads.mdtest.options import parse_arguments as parse_mdtest

_MIX = load_mix("theta-mix")
_LUSTRE = load_machine("theta").lustre

GRAMMARS: dict[str, Callable[[str], Any]] = {
    "setstripe": read_setstripe,
    "a layout that the release lacks": lambda text: _LUSTRE.check_striping(
        StripeRequest(setstripe=f"-C 2 {text}")
    ),
    "fault": parse_fault,
    "change": lambda text: load_machine("theta").with_changes(parse_changes([text])),
    "bytes": parse_bytes,
    "rate": parse_rate,
    "seconds": parse_seconds,
    "hints": lambda text: read_patterns(text, "--hints", "file"),
    "knobs": read_allowed,
    "limits": lambda text: parse_limits([text]),
    "axes": lambda text: parse_axes([text]),
    "what-if": WhatIf.parse,
    "budget of a plan": lambda text: read_budget(text, _MIX),
    "goal": lambda text: read_goal(text, _MIX),
    "budget of a search": Budget.parse,
    "facts": lambda text: facts_of([text]),
    "ior": lambda text: parse_ior(text.split()),
    "one option of ior": lambda text: parse_ior(["-b", text]),
    "mdtest": lambda text: parse_mdtest(text.split()),
    "job script": lambda text: read_job_script(f"#SBATCH -N {text}\nsrun ior -w\n"),
    "stripes of a job script": lambda text: read_job_script(f"lfs setstripe {text} x\nsrun ior\n"),
}

LONG = {
    "a word": "x" * 10_000,
    "words": "x " * 5_000,
    "a list": "1," * 5_000,
    "digits": "9" * 10_000,
    "options": "-c 1 " * 2_000,
    "assignments": "a=1 " * 2_500,
    "a sentence": "OST 1 slow " * 900,
    "items": "a='" + "b, " * 3_300,
    "parts": "a; " * 3_300,
    "quotes": "'" * 10_001,
}


@pytest.mark.parametrize("value", LONG.values(), ids=list(LONG))
@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=list(GRAMMARS))
def test_no_sentence_is_long_because_a_value_is(grammar, value):
    sentence = ""
    try:
        grammar(value)
    except InputError as error:
        sentence = str(error)
    assert len(sentence) < 600


@given(st.text(min_size=0, max_size=5000), st.text(max_size=200))
@example("x" * 10_000, "a.yaml: field")
def test_a_sentence_is_never_longer_than_people_read(value, place):
    with pytest.raises(InputError) as caught, naming(place):
        raise InputError(f"{value}: right would be less")
    assert len(str(caught.value)) <= 1000


@given(st.text(max_size=5000))
def test_a_value_that_is_shown_has_eighty_characters(value):
    assert len(shown(value)) <= 12 * 80 + 40  # each of them spelled out, at most
    assert len(shown("x" + "y" * len(value))) <= 80 + 40
    assert shown_path(value).isprintable()


@pytest.mark.parametrize(
    "sentence",
    [
        "the machine's own and the user's words, " * 12 + "as they are",
        "/a/path/of/" + "x" * 140 + ": there is no such file",
        f"x: there is no such field; there are {', '.join(f'field_{n}' for n in range(90))}",
    ],
)
def test_what_people_read_is_not_cut(sentence):
    assert str(InputError(sentence)) == sentence
