"""An animation as HTML: one text with everything in it, the player included.

The page asks for nothing: its policy lets the browser run the player, which is named by its hash,
and no other script.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from pathlib import Path

from xc40io.archive.whole_files import write_whole
from xc40io.results.animation.score import score_of
from xc40io.results.pictures.scene import Scene, scene_of, scene_of_jobs
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.telling.html import fill, style
from xc40io.topology.text import format_count

_TEMPLATES = Path(__file__).parent / "templates"
_OPTION = "--animate"


def animation_html(content: Result | JobsResult, option: str = _OPTION) -> str:
    """Return a recorded run as a moving picture; the same run gives the same text.

    ``content``: a run, or several jobs on one machine. ``option``: what asks for it, for messages.

    Raises
    ------
    InputError
        If nothing was recorded, nothing went to Lustre, or too much for an animation.
    """
    scene = _scene(content)
    score = json.dumps(score_of(scene, option), separators=(",", ":"), allow_nan=False)
    return fill(
        _TEMPLATES / "animation.html",
        scene=scene,
        title=_title(content),
        setup=scene.setup.removesuffix(f"; {_title(content)}"),
        version=scene.result.version,
        style=style() + _own("animation.css"),
        player=_own("player.js"),
        digest=_digest(),
        # No text in it can end the element that it stands in.
        score=score.replace("<", "\\u003c"),
    )


def write_animation(content: Result | JobsResult, path: str, option: str) -> list[str]:
    """Write the animation of a run into a file; return the file.

    Raises
    ------
    InputError
        As :func:`animation_html`, or if the system refuses to write; `option` says where the user
        named the file.
    """
    write_whole(path, animation_html(content, option), option)
    return [path]


def _scene(content: Result | JobsResult) -> Scene:
    """Return the scene of a run, or of jobs that ran together."""
    return scene_of_jobs(content) if isinstance(content, JobsResult) else scene_of(content)


def _title(content: Result | JobsResult) -> str:
    """Return the title of the run."""
    if isinstance(content, JobsResult):
        count = format_count(len(content.jobs), "job")
        return content.scenario.title or f"{count} on {content.machine.name}"
    return content.scenario.title or content.workload.title


@cache
def _own(name: str) -> str:
    """Return a file that stands beside the template."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _digest() -> str:
    """Return the hash of the player, as a content security policy names it."""
    digest = hashlib.sha256(f"\n{_own('player.js')}".encode()).digest()
    return f"sha256-{b64encode(digest).decode()}"
