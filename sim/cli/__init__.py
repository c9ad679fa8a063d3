"""The command line ``xc40io``: thin faces over the packages below.

Whatever takes long to import is imported inside the command that needs it, so that ``--help`` and
a mistyped option answer at once.
"""

import gc
import os
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


def main() -> None:
    """Run the command ``xc40io`` with the arguments of this process."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    from sim.cli.app import cli
    from sim.cli.face import INTERRUPTED

    try:
        cli.main(prog_name="xc40io")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            # Python would wait for the threads of a pool. If its processes were ended in the midst
            # of an answer, now and then these threads wait for each other for ever.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        raise
    finally:
        gc.freeze()  # what is left goes with the process; no need to look which of it is garbage
