"""What a program of a script does, as far as its name tells: IOR, mdtest, kernels of the catalogue.

Only the name is looked at: ``./vpicio_uni`` is taken for the kernel ``vpic-io``. Kernels whose
names are everyday words (``production``, ``staging``) stand for no program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from xc40io.config.asked_workload import Io500, Workload
from xc40io.config.errors import InputError, shown
from xc40io.workloads.batch.option_words import table
from xc40io.workloads.catalogue import PROGRAMS, workload_of
from xc40io.workloads.io500.ini import parse_ini, read_ini
from xc40io.workloads.ior.options import words_of_script
from xc40io.workloads.known_kernels import KERNELS, WRITTEN
from xc40io.workloads.workload import Started

WRAPPERS = {
    "time": (table("time", "-o|--output -f|--format", "-p -v -a --verbose --portability"), 0),
    "timeout": (
        table("timeout", "-s|--signal -k|--kill-after", "--foreground --preserve-status -v"),
        1,
    ),
    "sudo": (table("sudo", "-u|--user -g|--group", "-E -n -H"), 0),
    "nice": (table("nice", "-n|--adjustment"), 0),
    "ionice": (table("ionice", "-c|--class -n|--classdata", "-t"), 0),
    "stdbuf": (table("stdbuf", "-i|--input -o|--output -e|--error"), 0),
    "taskset": (table("taskset", "-c|--cpu-list", "-a"), 0),
    "numactl": (
        table(
            "numactl",
            "-m|--membind -p|--preferred -N|--cpunodebind -C|--physcpubind -i|--interleave",
            "-l --localalloc -a --all",
        ),
        0,
    ),
    "shifter": (
        table("shifter", "-i|--image -V|--volume -e|--env --env-file -w|--workdir -m|--module"),
        0,
    ),
    **dict.fromkeys(
        ("singularity", "apptainer"),
        (
            table(
                "singularity",
                "-B|--bind -H|--home --pwd --env --env-file",
                "--nv -c -e -C -q --quiet",
            ),
            2,
        ),
    ),
    "podman-hpc": (table("podman-hpc", "-v|--volume -e|--env -w|--workdir", "--rm --mpi"), 2),
    "strace": (table("strace", "-o -e -s", "-c -f -t -T -tt"), 0),
    **dict.fromkeys(("exec", "nohup", "command", "env"), (table("env", "-u|--unset", "-i -"), 0)),
}
"""What may stand before a program: its options, and how many words of its own follow them."""


class Program(NamedTuple):
    """A program that is known."""

    workload: Workload
    path: str | None  # of the file that it writes, or its folder; None: not known
    notes: tuple[str, ...] = ()  # the ends of sentences
    starts: Started | None = None  # the ranks that it starts by itself, as h5bench does


def unwrapped(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return a command without ``time``, ``env NAME=VALUE``, ``numactl ...``, and the variables.

    What a script with an affinity in it starts (``./affinity.sh ./ior``) is the program.
    """
    rest, variables = list(words), {}
    while rest:
        name = PurePosixPath(rest[0]).name
        if _is_assignment(rest[0]):
            key, _, value = rest.pop(0).partition("=")
            variables[key] = value
        elif name in WRAPPERS:
            options, operands = WRAPPERS[name]
            rest = options.read(rest[1:], name)[1]
            if operands == 2 and rest[:1] in (["exec"], ["run"]):
                rest = options.read(rest[1:], name)[1]
                operands = 1
            del rest[:operands]
        elif name.endswith(".sh") and is_known(rest[1:]):
            del rest[0]
        else:
            break
    return rest, variables


def behind_others(words: Sequence[str]) -> int:
    """Return where a benchmark begins that another program starts, as in ``perf stat ./ior -w``.

    0 if none does: what stands behind an option may be its value (``-o /scratch/ior``).
    """
    for at, (before, word, after) in enumerate(zip(words, words[1:], words[2:], strict=False), 1):
        if _benchmark(word) and after.startswith("-") and not before.startswith("-"):
            return at
    return 0


def _is_assignment(word: str) -> bool:
    return re.match(r"[A-Za-z_][A-Za-z_0-9]*=", word) is not None


def is_known(words: Sequence[str]) -> bool:
    """Tell whether a command begins with a program that is known."""
    return bool(words) and (_benchmark(words[0]) is not None or _kernel(words[0]) is not None)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", PurePosixPath(name).name.lower())


def _benchmark(word: str) -> str | None:
    """Return which benchmark a program is: ``/opt/IOR.exe`` is ior, ``h5bench`` itself."""
    name = PurePosixPath(word).name.lower()
    stem = re.sub(r"(\.(exe|x|knl|haswell|hsw))+$", "", name)
    typed = stem in PROGRAMS and (PROGRAMS[stem].letter or stem == "io500")
    return stem if typed or (stem in WRITTEN and WRITTEN[stem].started) else None


def _kernel(word: str) -> str | None:
    """Return the kernel whose name a program begins with, the longest one."""
    bare = _bare(word)
    names = [name for name in KERNELS if name not in WRITTEN or WRITTEN[name].is_program]
    return max((name for name in names if bare.startswith(_bare(name))), key=len, default=None)


def stand_in(words: Sequence[str], asked: Workload) -> Program:
    """Return a program that is not known as what it is said to do.

    Its files are in the folder that the other one names, if it does; else where its last path is.
    """
    path = workload_of(asked).phase_traits(1)[0].path or ""
    named = path if "/" in path else _last_path(words)
    return Program(asked, named, (f"{shown(words[0])} is taken for {asked.command}",))


def _last_path(words: Sequence[str]) -> str | None:
    paths = [word for word in words[1:] if "/" in word and not word.startswith("-")]
    return paths[-1] if paths else None


def program_of(
    words: Sequence[str], folder: Path, written: Callable[[str], str | None] = lambda _: None
) -> Program:
    """Return what a command does that begins with a program which is known.

    Files that it reads, as an IOR script (``-f``), are those that the job script has written, whose
    text ``written`` returns; else they are found from a folder.

    Raises
    ------
    InputError
        If the program does not know an option, or such a file cannot be read.
    """
    benchmark, rest = _benchmark(words[0]), tuple(words[1:])
    if benchmark == "io500":
        return _io500(rest, folder, written)
    if benchmark is not None and benchmark in PROGRAMS:
        rest, notes = _told_by_script(rest, written)
        asked = Workload.of(benchmark, rest).found_from(folder)
        return Program(asked, workload_of(asked).phase_traits(1)[0].path, notes)
    if benchmark is not None:
        option, suffix = WRITTEN[benchmark].started
        file = _configured(benchmark, rest, suffix)
        found = written(file) or file
        asked = Workload(kernel={"name": benchmark, option: found}).found_from(folder)
        return Program(asked, None, starts=workload_of(asked).starts())
    name = _kernel(words[0])
    note = (
        f"{words[0]} is taken for the kernel {name}, with its options at their defaults "
        f"(xc40io kernel {name} --help)"
    )
    return Program(Workload(kernel={"name": name}), _last_path(words), (note,))


def _configured(program: str, words: Sequence[str], suffix: str) -> str:
    """Return the file that a program is started with."""
    file = next((word for word in words if word.lower().endswith(suffix)), None)
    if file is None:
        right = f"{program} FILE{suffix}"
        raise InputError(f"{program} without a configuration; right would be {right}")
    return file


def _io500(words: Sequence[str], folder: Path, written: Callable[[str], str | None]) -> Program:
    file = _configured("io500", words, ".ini")
    text = written(file)
    config = read_ini(folder / file) if text is None else parse_ini(text, file)
    asked = Workload(io500=Io500(config={**config}))
    return Program(asked, config.get("global", {}).get("datadir"))


def _told_by_script(
    words: tuple[str, ...], written: Callable[[str], str | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a command of IOR with what the job script has written for -f in its place."""
    at = words.index("-f") if "-f" in words[:-1] else len(words)
    text = None if at == len(words) else written(words[at + 1])
    if text is None:
        return words, ()
    name = words[at + 1]
    told, tests = words_of_script(text, name)
    notes = (f"{name} has {tests} tests; the first one is simulated",) if tests > 1 else ()
    return (*words[:at], *told, *words[at + 2 :]), notes
