"""Try hostile inputs on every surface, and print what came of them.

python tests/fuzz                                  # 300 inputs a surface: some minutes
python tests/fuzz --inputs 20 --surface "IOR scripts" --surface faults
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from attempt import MEMORY, PATIENCE
from harvest import Harvest, harvest, keep
from surfaces import SURFACES

_COLUMNS = (
    "tried",
    "refused",
    "tracebacks",
    "hangs",
    "memory",
    "unclear",
    "half files",
    "most memory",
)


@click.command()
@click.option("--inputs", default=300, show_default=True, help="Inputs tried on each surface.")
@click.option("--seed", default=1, show_default=True, help="The inputs follow from it.")
@click.option("--surface", "names", multiple=True, help="Only this one; repeatable.")
@click.option(
    "--keep",
    "place",
    default="build/fuzz",
    show_default=True,
    help="Folder for inputs with which something is wrong.",
)
def main(inputs: int, seed: int, names: tuple[str, ...], place: str) -> None:
    """Try hostile inputs on every surface; print a table; exit 1 if something is wrong."""
    chosen = [surface.name for surface in SURFACES if not names or surface.name in names]
    if not chosen:
        raise click.UsageError(f"surfaces are {', '.join(surface.name for surface in SURFACES)}")
    harvests = []
    for name in chosen:
        found = harvest(name, inputs, seed)
        keep(found, Path(place))
        harvests.append(found)
        click.echo(f"{name}: {dict(found.kinds)}", err=True)
    click.echo(table(harvests))
    bad = sum(len(found.bad) for found in harvests)
    if bad:
        click.echo(f"{bad} inputs with which something is wrong are in {place}", err=True)
    sys.exit(1 if bad else 0)


def table(harvests: list[Harvest]) -> str:
    """Return the table, as Markdown has it."""
    lines = [f"| surface | {' | '.join(_COLUMNS)} |", f"|---|{'---:|' * len(_COLUMNS)}"]
    lines += [_row(found.name, found) for found in harvests]
    whole = Harvest("all")
    for found in harvests:
        whole.kinds.update(found.kinds)
        whole.most_memory = max(whole.most_memory, found.most_memory)
    lines += [_row("all", whole), ""]
    lines.append(
        f"refused: in one sentence; hangs: no end and no progress in {PATIENCE:.0f} s; memory: "
        f"above {MEMORY >> 20:,} MiB for one input; half files: left under another name"
    )
    return "\n".join(lines)


def _row(name: str, found: Harvest) -> str:
    kinds = ("refused", "traceback", "hang", "memory", "unclear", "half a file")
    figures = [f"{found.tried:,}", *(f"{found.kinds[kind]:,}" for kind in kinds)]
    return f"| {name} | {' | '.join(figures)} | {found.most_memory / 2**20:,.0f} MiB |"


if __name__ == "__main__":
    main()
