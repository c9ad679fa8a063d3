"""Libraries that not every run needs, and the extra of the package that brings each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from xc40io.config.errors import FailureError


class Extra(NamedTuple):
    """What an extra of ``setup.cfg`` brings, as far as it is asked for by name."""

    libraries: Mapping[str, str]  # by their modules: how a sentence names them
    lets: str  # what can be done with it


EXTRAS = {
    "cluster": Extra({"distributed": "Dask"}, "`--scheduler`: studies on a cluster"),
    "compile": Extra({"numba": "Numba"}, "make the core, which a wheel brings along"),
    "fit": Extra({"scipy": "SciPy"}, "`kernel fit`"),
    "lessons": Extra({"jupyterlab": "JupyterLab"}, "`lessons`: open the notebooks"),
    "logs": Extra(
        {"darshan": "the package darshan, for Python 3.11 and 3.12,"},
        "Darshan logs, read and written",
    ),
    "mcp": Extra({"mcp": "the package mcp"}, "`mcp`: for assistants"),
    "plan": Extra({"SALib": "SALib"}, "`plan --sensitivity`"),
    "tables": Extra(
        {"pandas": "pandas", "pyarrow": "PyArrow", "scipy": "SciPy", "xarray": "xarray"},
        "`--save`, traces as tables, Parquet, NetCDF, `to_pandas()`, `to_xarray()`",
    ),
    "tokio": Extra({"h5py": "h5py"}, "`--tokio`: HDF5 for pytokio"),
    "tune": Extra({"optuna": "Optuna"}, "`tune`"),
    "web": Extra({"panel": "Panel"}, "`web`: the explorer"),
}
"""The extras by their names in ``setup.cfg``."""


def need(extra: str, asked: str) -> None:
    """Raise FailureError if a library of an extra is not installed.

    Nothing is imported.

    Parameters
    ----------
    extra
        Of :data:`EXTRAS`.
    asked
        What needs it: an option, a command, a file.
    """
    for module, library in EXTRAS[extra].libraries.items():
        if find_spec(module) is None:
            raise FailureError(
                f"{asked}: {library} is not installed; right would be: "
                f"pip install 'xc40io[{extra}]'"
            )
