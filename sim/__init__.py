"""A discrete-event simulator of the I/O path of Cray XC40 supercomputers.

>>> from xc40io import Scenario, ior_rows, simulate
>>> scenario = Scenario(
...     machine="theta", nodes=4, ppn=2,
...     striping={"count": 8, "size": "8m"},
...     workload={"ior": "-a POSIX -w -r -b 8m -t 8m"},
... )
>>> result = simulate(scenario)
>>> [row.access.value for row in ior_rows(result)]
['write', 'read']

What is public, ``__init__.pyi`` lists. Its names are imported when they are first used, so that
``import xc40io`` and the command line start without waiting for Numba.
"""

from __future__ import annotations

# Until what stands here is imported, an interrupt of the command line ends in a traceback: so
# nothing is imported here but by who asks for it.


def __getattr__(name: str) -> object:
    """Import a public name from its home (PEP 562)."""
    from importlib import import_module

    from xc40io.config.public_names import HOMES, PUBLIC

    if name == "__all__":
        return PUBLIC
    if name not in HOMES:
        from xc40io.config.errors import nearest

        meant = "; did you mean simulate?" if name == "run" else nearest(name, PUBLIC)
        raise AttributeError(f"xc40io has no {name!r}{meant}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    from xc40io.config.public_names import PUBLIC

    return sorted({*globals(), *PUBLIC})


def _tell_notebook() -> None:
    """Have a notebook show answers as HTML; do nothing anywhere else."""
    import sys

    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None:
            from xc40io.jupyter import show_answers

            show_answers(shell)


_tell_notebook()
