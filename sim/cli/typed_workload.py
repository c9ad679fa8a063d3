"""A program that stands on the command line behind a double dash, or in an option."""

from __future__ import annotations

from xc40io.cli.kernel_options import kernel_of_words
from xc40io.config.asked_workload import Workload
from xc40io.workloads.catalogue import PROGRAMS

TYPED = tuple(name for name, program in PROGRAMS.items() if program.option)
"""What a command line behind a double dash may begin with; IOR's options may stand alone."""


def workload_of_words(words: tuple[str, ...]) -> Workload | None:
    """Return the workload that words behind a double dash describe; None if they name something.

    They are the options of IOR, or a program of :data:`TYPED` with its options; those of a
    kernel begin with its name.
    """
    if not words or words[0].startswith("-"):
        return Workload(ior=words)
    program, *options = words
    if program not in TYPED:
        return None
    typed = PROGRAMS[program].letter
    return Workload.of(program, options if typed else kernel_of_words(options))
