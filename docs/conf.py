"""How the site is built: ``make site``, without a network, and a warning is an error.

Sphinx reads the documents where they lie, from the root of the checkout, so that a link leads to
the same page here and in the checkout.
"""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser
from pathlib import Path

from pygments.lexers.shell import BashSessionLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "extensions"))

_package = ConfigParser()
_package.read(ROOT / "setup.cfg", encoding="utf-8")

project = "xc40io"
author = "the authors of xc40io"
copyright = author  # noqa: A001  # Sphinx asks for this name
release = version = _package["metadata"]["version"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "command_pages",
    "model_fields",
    "option_tables",
    "result_tables",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/README.md",
    "notebooks/*.ipynb",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = [
    ".*", "**/.*", "build", "**/__pycache__", "docs/conf.py", "docs/extensions", "docs/static",
    "docs/templates", "tests", "tools", "sim", "topology", "configs",
]  # fmt: skip

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as a list below the class, not as members of their own
napoleon_preprocess_types = False

smartquotes_action = "q"  # two dashes before an option stay two

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_use_index = False  # of what Python has: the reference of Python has it all on one page
html_additional_pages = {"index": "redirect.html"}
templates_path = ["templates"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": project},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"docs/index": []}


class Console(BashSessionLexer):
    """Commands behind ``$`` and what they print: a line that begins with ``#`` is no command."""

    name = "Console"  # of the lexer
    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


def setup(app: Sphinx) -> None:
    """Join Sphinx: how blocks are coloured, options read, and new pages listed."""
    app.add_lexer("console", Console)
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", _list_new_pages)
    app.connect("source-read", _tell_days)


def _tell_days(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Say below an example that takes long on which day it printed what it shows."""
    source[0] = _RUN.sub(r"\g<0>\n*It \g<takes>; run on \g<day>.*\n", source[0])


_RUN = re.compile(
    r"^```console not run: (?P<takes>takes .*?); run (?P<day>\S+)\n.*?^```\n",
    re.MULTILINE | re.DOTALL,
)


def _list_new_pages(_app: Sphinx, page: str, source: list[str]) -> None:
    """List a page that stands in no table of contents below the guides, until it has its place."""
    if page == "docs/guides":
        pages = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
        listed = set(re.findall(r"^(?:.+<)?([\w-]+)>?$", "\n".join(pages.values()), re.MULTILINE))
        new = sorted(pages.keys() - listed - {"index"})
        source[0] += _MORE.format(pages="\n".join(new)) if new else ""


_MORE = """
```{{toctree}}
:hidden:
:caption: More

{pages}
```
"""
