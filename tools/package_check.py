"""Build the packages, install the wheel where nothing else is, and simulate from another folder.

``make package`` runs this file. What is built stays in ``dist/``: the source distribution, and the
manylinux wheel that was made of it, so that a file which the former lacks is missed here;
with ``make package ALSO=aarch64`` a wheel for these, too, which is not run. No extra
is installed, so the run has no compiler, neither C's nor Numba, nor may it leave machine code in
its cache folder: what it runs came along.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

IOR = ("ior", "--nodes", "2", "--ppn", "2", "--", "-a", "POSIX", "-w", "-e", "-b", "4m", "-t", "1m")

_PUT = """
from importlib.metadata import files
print(*sorted({file.parts[0] for file in files("xc40io")}))
"""


def build(into: Path, **environment: str) -> Path:
    """Build both packages with what is installed here; return the wheel."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(ROOT)]
    given = os.environ | environment
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=given)
    (wheel,) = into.glob("*-linux_*.whl")
    return marked(wheel)


def marked(wheel: Path) -> Path:
    """Mark a wheel with the oldest C library that its core runs with; return it under that name.

    auditwheel reads which versions of symbols the core asks for.

    Raises
    ------
    SystemExit
        If the core needs a library that not every Linux has.
    """
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    command = [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto"]
    command += ["--wheel-dir", str(wheel.parent / "marked"), str(wheel)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PATH": tools})
    (repaired,) = (wheel.parent / "marked").iterdir()
    if "-manylinux" not in repaired.name:
        raise SystemExit(f"package_check: {repaired.name} is for this system alone")
    wheel.unlink()
    kept = repaired.rename(wheel.parent / repaired.name)
    repaired.parent.rmdir()
    return kept


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what a run needs in a new environment; return its Python.

    The libraries are of the versions that the project is tested with.
    """
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pinned = ("--constraint", str(ROOT / "constraints.txt"))
    command = [str(python), "-m", "pip", "install", "--quiet", *pinned, str(wheel)]
    subprocess.run(command, check=True)
    return python


def check(python: Path, elsewhere: Path) -> None:
    """Simulate with an installed package, from a folder without sources and with an empty cache.

    In that folder lie a module and folders that are called as those of a checkout are.

    Raises
    ------
    SystemExit
        If the command fails, or has to compile, or if more was installed than one package.
    """
    # Not in the checkout: what a build leaves there would be found before what is installed.
    asked = [str(python), "-I", "-c", _PUT]
    put = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=elsewhere)
    names = {name for name in put.stdout.split() if name != ".." and not name.endswith("-info")}
    if names != {"xc40io"}:
        raise SystemExit(f"package_check: {', '.join(sorted(names))} lie among the packages")
    for name in ("sim", "topology", "validation"):
        (elsewhere / f"{name}.py").write_text("raise ImportError('of somebody else')\n")
    (elsewhere / "configs").mkdir()
    cache = elsewhere / "cache"
    kept = {name: os.environ[name] for name in ("LANG", "PATH") if name in os.environ}
    environment = kept | {"HOME": str(elsewhere), "XDG_CACHE_HOME": str(cache), "CC": "/nowhere"}
    program = python.with_name("xc40io")
    for words in (("--version",), IOR):
        subprocess.run([str(program), *words], check=True, cwd=elsewhere, env=environment)
    if (cache / "xc40io" / "compiled").exists():
        raise SystemExit("package_check: the installed package compiled what it should have had")


def main() -> None:
    """Do all of it; a step that fails ends it."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    wheel = build(dist)
    for kind in sys.argv[1:]:
        build(dist, XC40IO_PROCESSOR=kind)
    with tempfile.TemporaryDirectory() as place:
        python = install(wheel, Path(place) / "environment")
        elsewhere = Path(place) / "elsewhere"
        elsewhere.mkdir()
        check(python, elsewhere)
        files = (path for path in python.parents[1].rglob("*") if path.is_file())
        print(f"its environment: {sum(path.lstat().st_size for path in files) / 1e6:.0f} MB")
    for built in sorted(dist.iterdir()):
        print(f"dist/{built.name}: {built.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
