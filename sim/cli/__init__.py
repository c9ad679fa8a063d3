"""The command line ``xc40io``: thin faces over the packages below.

A command is imported when it is asked for by its name, and what it runs when it runs, so that
``--help`` and a mistyped word answer at once.
"""

import gc
import io
import os
import signal
import sys

_ENVIRONMENT = {
    # NumPy's linear algebra would start a thread for every core, and they wait for work by turning
    # in a loop: as much processor time as the rest of a short run takes to start. Nothing here
    # multiplies matrices large enough to be worth a thread.
    "OPENBLAS_NUM_THREADS": "1",
    # To look for plugins, pydantic reads the description of every package that is installed.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}

_NEW_OBJECTS = 50_000
"""Objects between two rounds of the garbage collector; Python's own 700 mean hundreds of rounds
while modules are imported, and their functions and classes are never garbage."""

_QUIET = "ignore:resource_tracker:UserWarning"
"""The process that clears away the semaphores of a pool is started with this. After an interrupt
that is what it is for, and nothing to warn of."""


def _leave(_signal: int, _frame: object) -> None:
    """End at once, in one line: nothing that has been begun is worth an orderly end."""
    os.write(2, b"xc40io: interrupted\n")
    os._exit(130)


def _ready_streams() -> None:
    """Let standard output and standard error take all: also if whoever starts us closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal has no letter for is spelled out
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command ``xc40io`` with the arguments of this process.

    An interrupt while modules are imported, or while Python ends, would print a traceback of
    whatever is being done; in between the command line itself ends in an orderly way.
    """
    usual = signal.getsignal(signal.SIGINT)
    heard = usual is signal.default_int_handler  # a shell may have it ignored in the background
    if heard:
        signal.signal(signal.SIGINT, _leave)
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    sys.warnoptions.append(_QUIET)
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    _ready_streams()
    from xc40io.cli.app import cli
    from xc40io.cli.face import INTERRUPTED

    try:
        if heard:
            signal.signal(signal.SIGINT, usual)
        cli.main(prog_name="xc40io")
    except SystemExit as ended:
        if heard:
            signal.signal(signal.SIGINT, _leave)
        if ended.code == INTERRUPTED:
            # Python would wait for the threads of a pool. If its processes were ended in the midst
            # of an answer, now and then these threads wait for each other for ever.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
    except KeyboardInterrupt:  # before the command line hears of it, or when it has its answer
        _leave(signal.SIGINT, None)
    finally:
        gc.freeze()  # what is left goes with the process; no need to look which of it is garbage
