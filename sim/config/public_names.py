"""The public names of the package: each with its module, as ``__init__.pyi`` imports it.

That file is the one list of them. Type checkers read it in place of ``__init__.py``, which reads it
here when it is first asked for a name.
"""

from __future__ import annotations

from pathlib import Path

_IMPORTS = (Path(__file__).parents[1] / "__init__.pyi").read_text(encoding="utf-8").splitlines()

HOMES = {line.split()[-1]: line.split()[1] for line in _IMPORTS if line.startswith("from ")}
"""The modules by the names, in the order of the modules."""

PUBLIC = sorted(name for name in HOMES if not name.startswith("to_"))
"""Those that users import; ``to_pandas`` and such they have as methods of a result."""
