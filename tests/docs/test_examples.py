"""What the documents show is what happens, figure for figure.

`make docs-outputs` writes the documents anew.
"""

from __future__ import annotations

import re

import pytest
from docs_outputs import mended
from documents import ROOT, blocks, documents, examples

DOCUMENTS = documents()
EXAMPLES = [example for document in DOCUMENTS for example in examples(document)]
TASKS = {task: [one for one in EXAMPLES if one.task == task] for task in {e.task for e in EXAMPLES}}
BLOCKS = [
    pytest.param(block, id=f"{document.name}:{block.first - 1}")
    for document in DOCUMENTS
    for block in blocks(document.read_text(encoding="utf-8"))
]

_FIGURE = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?"
_MEASURED = re.compile(rf"({_FIGURE}) (?:%|[kMGT]i?B\b|[mun]?s\b|images/s|times\b)")


@pytest.mark.parametrize("task", sorted(TASKS, key=str), ids=lambda task: task.title)
def test_it_prints_what_is_shown(task):
    for example in TASKS[task]:
        assert mended(example) == {}, "`make docs-outputs` writes these lines anew"


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: example.place(example.steps[0].line)
)
def test_the_paragraph_below_repeats_figures_as_they_are_shown(example):
    shown = " ".join(line for step in example.steps for line in (step.code, *step.shown))
    assert set(_MEASURED.findall(example.below)) <= set(re.findall(_FIGURE, shown))


@pytest.mark.parametrize("block", BLOCKS)
def test_what_stands_behind_a_fence_is_understood(block):
    """A misspelt mark would leave something unchecked; commands shown as `sh` always would."""
    words = {
        "console": r"(not run: .+)?",
        "python": r"(not run: .+)?",
        "text": r"(output|[\w./-]+\.\w+)?",  # or a file, which the commands behind it read
        "sh": "",
        "": r"(\{[\w-]+\})?",  # a directive of the site
    }.get(block.language, r"([\w./-]+\.\w+)?")
    assert re.fullmatch(words, block.words)
    assert block.language != "sh" or "xc40io " not in " ".join(block.lines)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_no_command_stands_outside_a_fence(document):
    assert not re.findall(r"^    (?:\$ )?xc40io ", document.read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_targets_of_make_exist(document):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"\bmake ([\w-]+) +#", (ROOT / document).read_text(encoding="utf-8"))
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
