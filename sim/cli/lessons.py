"""``xc40io lessons``: the lessons, copied to a folder of one's own and opened in Jupyter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from xc40io.archive.whole_files import make_folder, write_whole
from xc40io.cli.options import Whole
from xc40io.cli.written import FOLDER
from xc40io.config.errors import FailureError, InputError, nearest
from xc40io.config.extras import need
from xc40io.config.files import folder_of

_HELP = """\
Open the lessons in JupyterLab: notebooks of 15 to 30 minutes, each with a question.

\b
  xc40io lessons               the first one
  xc40io lessons 3             extent locks
  xc40io lessons --copy        only put them into the folder
  xc40io lessons --address 0.0.0.0   for browsers on other machines, as from a container

They are copied into a folder first, where you may change them. A lesson that lies there already
stays as it is: what you have written is kept.
"""

_SHARED = ("lesson.py", "README.md")


@click.command(help=_HELP)
@click.argument("lesson", default="1", metavar="[LESSON]")
@click.option(
    "--to",
    "folder",
    type=FOLDER,
    default="xc40io-lessons",
    show_default=True,
    metavar="DIR",
    help="Where to.",
)
@click.option("--copy", "only_copy", is_flag=True, help="Copy them, and open none.")
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Where JupyterLab listens, and no browser is opened: it prints its link, with a token. "
    "0.0.0.0: on all networks.  [default: this machine alone]",
)
@click.option(
    "--port", type=Whole(most=65535), help="Its port.  [default: 8888 or the next free one]"
)
def lessons(
    lesson: str, folder: str, *, only_copy: bool, address: str | None, port: int | None
) -> None:
    """Copy the lessons, and open one."""
    there = _notebooks()
    asked = _named(lesson, there)
    made = _copy(there, folder)
    kept = len(there) - made
    stay = f"; {kept} were there already and stay as they are" if kept else ""
    click.echo(f"xc40io: {made} of {len(there)} notebooks copied to {folder}{stay}", err=True)
    if only_copy:
        for path in there:
            click.echo(Path(folder, path.name))
        return
    need("lessons", f"the notebooks lie in {folder}")
    command = [sys.executable, "-m", "jupyterlab", str(Path(folder, asked.name))]
    if address is not None:
        link = f"--LabApp.default_url=/lab/tree/{asked.name}"
        command += [f"--ServerApp.ip={address}", "--no-browser", link]
    if port is not None:
        command += [f"--ServerApp.port={port}"]
    ended = subprocess.run(command, check=False).returncode
    if ended:
        raise FailureError(f"JupyterLab ended with status {ended}")


def _notebooks() -> list[Path]:
    """Return the notebooks that ship, the lessons first."""
    return sorted(folder_of("notebooks").glob("*.ipynb"))


def _named(lesson: str, notebooks: list[Path]) -> Path:
    """Return the notebook that is meant: by the number of the lesson, or by its name."""
    name = lesson.removesuffix(".ipynb")
    for path in notebooks:
        if path.stem == name or path.stem.startswith(f"lesson_{name}_"):
            return path
    names = [path.stem for path in notebooks]
    count = sum(name.startswith("lesson_") for name in names)
    raise InputError(
        f"lessons {lesson}: there is no such lesson; right would be a number from 1 to {count}, or "
        f"a name{nearest(lesson, names) or ' as lesson_1_one_rpc'}"
    )


def _copy(notebooks: list[Path], folder: str) -> int:
    """Copy notebooks, and what they share, to a folder; return how many were not there."""
    make_folder(folder, "--to")
    for name in _SHARED:
        text = (folder_of("notebooks") / name).read_text(encoding="utf-8")
        write_whole(Path(folder, name), text, "--to")
    missing = [path for path in notebooks if not Path(folder, path.name).exists()]
    for path in missing:
        write_whole(Path(folder, path.name), path.read_text(encoding="utf-8"), "--to")
    return len(missing)
