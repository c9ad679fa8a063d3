"""What the examples in the documents print, and the documents written anew with it.

    python tools/docs_outputs.py                 # or `make docs-outputs`: all documents
    python tools/docs_outputs.py docs/jobs.md    # only this one
    python tools/docs_outputs.py --slow          # or `make docs-slow`: what takes minutes

Writes nothing but lines that show output, where figures have changed. What looks otherwise than
before is told and left as it is: the text around it wants to be read again, too.
"""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path

from documents import Example, documents, examples
from example_runs import run
from shown_lines import first_unlike, renewed

from xc40io.topology.text import format_count

_SLOW = "--slow"


class ExampleError(Exception):
    """An example failed, or prints what does not look like what is shown; says where."""


def printed(example: Example) -> tuple[tuple[str, ...], ...]:
    """Return the lines that each step of an example prints.

    Raises
    ------
    ExampleError
        If a step fails.
    """
    ended, failure = run(example.task)
    if failure is not None:
        raise ExampleError(f"{example.place(example.steps[len(ended)].line)}: {failure}")
    return ended


def mended(example: Example) -> dict[int, str]:
    """Return the lines of the document that show something else than is printed, as they should be.

    Raises
    ------
    ExampleError
        If a step fails, or if shown lines do not look like any that are printed.
    """
    lines: dict[int, str] = {}
    for step, output in zip(example.steps, printed(example), strict=True):
        anew = renewed(step.shown, output)
        if anew is None:
            number = first_unlike(step.shown, output)
            raise ExampleError(
                f"{example.place(step.first + number)}: nothing that is printed there looks like "
                f"{step.shown[number]!r}; mend it by hand"
            )
        numbered = enumerate(zip(step.shown, anew, strict=True), start=step.first)
        lines |= {number: new for number, (old, new) in numbered if new != old}
    return lines


def renew(document: Path, *, slow: bool = False) -> tuple[int, list[str]]:
    """Write a document anew; return how many lines have changed, and what must be done by hand.

    ``slow``: only the examples that take long, each with the day on which it printed what it shows.
    """
    lines: dict[int, str] = {}
    problems = []
    for example in examples(document, slow=slow):
        try:
            lines |= mended(example)
        except ExampleError as problem:
            problems.append(str(problem))
            continue
        if slow:
            fence = example.fence
            lines[fence.line] = f"{fence.words.partition('; run ')[0]}; run {date.today()}"
    if lines:
        text = document.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, line in lines.items():
            text[number - 1] = f"{line}\n"
        draft = document.with_name(f".{os.getpid()}-{document.name}")
        draft.write_text("".join(text), encoding="utf-8")
        draft.replace(document)
    return len(lines), problems


def main(names: list[str]) -> int:
    """Write documents anew and say what has changed; return 1 if something is left to do."""
    status, slow = 0, _SLOW in names
    chosen = [Path(name).resolve() for name in names if name != _SLOW]
    for document in chosen or documents():
        changed, problems = renew(document, slow=slow)
        told = f"{format_count(changed, 'line')} written anew" if changed else "as printed"
        print(f"{document.name}: {told}{', but for what is told below' if problems else ''}")
        for problem in problems:
            print(f"  {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
