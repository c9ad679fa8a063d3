"""``xc40io compile``: the machine code of the data plane, made before it is needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from xc40io.archive.whole_files import make_folder
from xc40io.cli.written import FOLDER
from xc40io.compiler.code_files import UNLINKED
from xc40io.config.errors import FailureError


@click.command(name="compile")
@click.option(
    "--into",
    metavar="FOLDER",
    type=FOLDER,
    help="Also copy it into this folder, for a package that brings it along.",
)
def compile_core(*, into: str | None) -> None:
    """Compile the data plane before it is needed, and print where its machine code is.

    Without this, the first run does it, once for a version of the sources. It is kept in the cache
    folder of the user ($XDG_CACHE_HOME/xc40io, or ~/.cache/xc40io) for all checkouts; after an edit
    only what depends on it is compiled again.

    XC40IO_PROCESSOR=aarch64 makes that of ARM machines on others, linked by aarch64-linux-gnu-gcc.
    """
    from xc40io.run.simulate import compiled_core

    core = compiled_core()
    if into is not None:
        if core.suffix == UNLINKED:
            raise FailureError(
                "--into: a package brings along what a C compiler has linked, and there is none; "
                "right would be one (cc, such as gcc or clang), or CC with the name of one"
            )
        make_folder(into, "--into")
        core = Path(shutil.copyfile(core, Path(into) / core.name))
    click.echo(core)
