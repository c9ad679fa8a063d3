"""What is said of each cause of waiting."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine
from xc40io.findings.bottlenecks import Load, plurals_of
from xc40io.findings.waits import ABOUT, AT_WORDS, BEHIND, WORDS, Wait, words_of
from xc40io.plane.causes import DOING, FINEST, Cause
from xc40io.plane.stations import StationKind


def test_every_cause_has_its_record():
    assert ABOUT.keys() == set(Cause)
    assert WORDS.keys() == set(FINEST)
    assert AT_WORDS.keys() == set(DOING)
    assert all(AT_WORDS.values())


def test_who_waits_for_a_cause_is_told_it_and_no_remedy_that_nobody_tried():
    for cause in FINEST:
        wait = Wait(cause.name.lower(), WORDS[cause], 0.8, 0.8)
        station = StationKind.OST, "OST 3", "OSTs"
        idle = Load(0, "write", *station, 0.1, 0.1, 4, 0.0, 0.0, (wait,), wait)
        assert f"waited mostly for {WORDS[cause]} (80 % of the time)." in idle.sentence()
        assert "Untried" not in idle.sentence()


def test_a_station_is_behind_the_queue_at_itself():
    for kind in StationKind:
        own = Cause.CALLBACK if kind is StationKind.CALLBACK else Cause[kind.name]
        assert own in BEHIND[kind]
        assert Cause.THREADS in BEHIND[kind]


@pytest.mark.parametrize(("name", "links"), [("theta", "Aries links"), ("titan", "Gemini links")])
def test_links_have_the_name_that_the_network_of_the_machine_has(name: str, links: str):
    machine = load_machine(name)
    for words in (WORDS, AT_WORDS):
        told = words_of(machine, words)
        assert told == {**words, Cause.LINK: links}
        assert list(told) == list(words)
    assert plurals_of(machine)[StationKind.LINK] == links
