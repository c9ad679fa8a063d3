"""What the documents show: commands with the lines they print, Python, files to be saved.

A fenced block is told by the words behind its first fence; the first is its language.

* ``console``: a command stands behind ``$``, and below it what it prints; three dots stand for any
  lines, and a command with nothing below it is only run. The commands of one block run one after
  the other in one folder. Programs other than xc40io are not run.
* ``python``: run as it is. A block ``text output`` right below it shows what it prints.
* ``yaml mine.yaml``: a file, which lies under that name in the folder of every command and program
  of the document that names it.
* ``console not run: REASON``, and ``python`` likewise: shown, and not run.
* ``console not run: takes a minute; run 2026-11-28``, and ``python`` likewise: too long for the
  tests; ``make docs-slow`` runs it, and says when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

GAP = "..."

_FENCE = re.compile(r"^```(\w*) *(.*)$")
_SLOW = re.compile(r"not run: takes (?:half )?(?:a )?minutes?(?:; run \d{4}-\d\d-\d\d)?")
_FILE_NAME = re.compile(r"[\w./-]+\.\w+")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words behind it, and its lines, counted from 1."""

    language: str
    words: str
    first: int
    lines: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether it is something to run."""
        return self._is_code and not self.words.startswith("not run: ")

    @property
    def is_slow(self) -> bool:
        """Whether it is something to run now and then."""
        return self._is_code and _SLOW.fullmatch(self.words) is not None

    @property
    def _is_code(self) -> bool:
        return self.language in ("console", "python")


@dataclass(frozen=True)
class Step:
    """Something to run, and what is shown of what it prints, from a line of the document on."""

    code: str
    line: int
    shown: tuple[str, ...]
    first: int


@dataclass(frozen=True)
class Task:
    """All that decides what is printed: what runs, one after the other in one folder, and files."""

    language: str
    codes: tuple[str, ...]
    files: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The first line, as a name for it."""
        return self.codes[0].splitlines()[0]


@dataclass(frozen=True)
class Fence:
    """The line that opens a block, counted from 1, and its words."""

    line: int
    words: str


@dataclass(frozen=True)
class Example:
    """A block of a document that runs, step by step, and the paragraph right below it."""

    document: Path
    task: Task
    steps: tuple[Step, ...]
    below: str
    fence: Fence

    def place(self, line: int) -> str:
        """Name a line of the document for a message."""
        inside = self.document.is_relative_to(ROOT)
        return f"{self.document.relative_to(ROOT) if inside else self.document.name}:{line}"


def documents() -> list[Path]:
    """Return the documents whose examples are run."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a document."""
    found: list[Block] = []
    lines = text.splitlines()
    opened: tuple[str, str, int] | None = None
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if opened is not None and line == "```":
            language, words, first = opened
            found.append(Block(language, words, first, tuple(lines[first - 1 : number - 1])))
            opened = None
        elif opened is None and fence:
            opened = (fence[1], fence[2], number + 1)
    return found


def examples(document: Path, *, slow: bool = False) -> list[Example]:
    """Return what a document has to run, in its order; ``slow``: only what takes long."""
    text = document.read_text(encoding="utf-8")
    found = blocks(text)
    files = {
        block.words: "\n".join(block.lines) + "\n"
        for block in found
        if _FILE_NAME.fullmatch(block.words)
    }
    told = []
    for block, following in zip(found, [*found, None][1:], strict=True):
        chosen = block.is_slow if slow else block.runs
        steps = tuple(_steps(block, following)) if chosen else ()
        if steps:
            codes = tuple(step.code for step in steps)
            task = Task(block.language, codes, tuple(_named(files, codes)))
            fence = Fence(block.first - 1, f"```{block.language} {block.words}".rstrip())
            told.append(Example(document, task, steps, _below(text, block), fence))
    return told


def _named(files: dict[str, str], codes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the files that codes name, and those that these name in turn."""
    texts, left = list(codes), dict(files)
    while found := [name for name in left if any(name in text for text in texts)]:
        texts = [left.pop(name) for name in found]
        yield from ((name, files[name]) for name in found)


def _below(text: str, block: Block) -> str:
    """Return the paragraph right below a block."""
    rest = text.splitlines()[block.first + len(block.lines) :]
    return "\n".join(rest).strip().split("\n\n", 1)[0]


def _steps(block: Block, following: Block | None) -> Iterator[Step]:
    if block.language == "console":
        yield from _commands(block)
        return
    output = following if following and following.words == "output" else None
    shown, first = (output.lines, output.first) if output else ((GAP,), block.first)
    yield Step("\n".join(block.lines) + "\n", block.first, shown, first)


def _commands(block: Block) -> Iterator[Step]:
    starts = [at for at, line in enumerate(block.lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        at, code = start, block.lines[start].removeprefix("$ ")
        while code.endswith("\\"):
            at += 1
            code = code.removesuffix("\\") + block.lines[at].strip()
        if not code.startswith("xc40io"):
            continue
        shown = block.lines[at + 1 : end]
        yield Step(code, block.first + start, shown or (GAP,), block.first + at + 1)
