"""The HTML of an animation: one file that asks for nothing and runs its own player alone."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from dataclasses import replace

from html_outline import Outline
from recorded_runs import recorded

from xc40io.config.jobs import JobsScenario
from xc40io.results.animation.document import animation_html
from xc40io.run.jobs import simulate_jobs
from xc40io.telling.sheet import PALETTE

SCORE = re.compile(r'<script type="application/json" id="score">(.*?)</script>', re.DOTALL)
PLAYER = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def test_the_policy_names_the_player_and_nothing_else() -> None:
    text = animation_html(recorded("shared file"))
    (player,) = PLAYER.findall(text)
    digest = b64encode(hashlib.sha256(player.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    assert "default-src 'none'" in policy
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    links = set(
        re.findall(r"(?:https?:)?//[\w.]+/", text.replace("http://www.w3.org/2000/svg", ""))
    )
    assert not links


def test_the_same_run_gives_the_same_text() -> None:
    assert animation_html(recorded("own files")) == animation_html(recorded("own files"))


def test_names_cannot_break_out_of_the_page() -> None:
    result = recorded("own files")
    assert result.recording is not None
    evil = "</script><script>alert(1)</script>"
    names = tuple(evil for _ in result.recording.file_names)
    scenario = result.scenario.model_copy(update={"title": evil})
    recording = replace(result.recording, file_names=names)
    text = animation_html(replace(result, recording=recording, scenario=scenario))
    assert len(PLAYER.findall(text)) == 1
    (score,) = SCORE.findall(text)
    assert evil in json.loads(score)["locks"]["object"]
    assert Outline.of(text).texts["h1"] == [evil]


def test_jobs_on_one_machine_are_in_one_picture() -> None:
    job = {"nodes": 1, "ppn": 1, "workload": {"ior": "-w -e -b 1m -t 1m"}}
    listed = [job | {"name": name} for name in ("first", "second")]
    jobs = simulate_jobs(
        JobsScenario.model_validate({"machine": "theta", "jobs": listed}), alone=False, record=True
    )
    (found,) = SCORE.findall(animation_html(jobs))
    score = json.loads(found)
    assert sum(journey["kind"] == "write" for journey in score["journeys"]) == jobs.whole.rpcs
    assert sum(place[0] == "node" for place in score["places"]) == 2
    assert {name.split(":")[0] for name, _ in score["phases"]} == {"first", "second"}


def test_kinds_have_colours_that_people_can_tell_apart() -> None:
    (player,) = PLAYER.findall(animation_html(recorded("own files")))
    colours = re.findall(r'words: ".*?", colour: "(#\w+)"', player)
    assert len(set(colours)) == 5
    assert set(colours) <= set(PALETTE)
