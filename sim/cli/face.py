"""How the command line ends: one sentence when something is wrong, never a traceback."""

from __future__ import annotations

import io
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from xc40io.cli.printable import printable_streams
from xc40io.config.errors import FailureError, InputError, readable, shown
from xc40io.config.files_in_use import watching_files

_TYPED = "xc40io.typed"
_FAILED, _BAD_INPUT = 1, 2

INTERRUPTED = 130
"""The exit status after an interrupt, as a shell reports SIGINT."""


class Face(click.Group):
    """The command ``xc40io`` and its subcommands.

    Bad input, from click's own checks or as :class:`InputError`, ends in one sentence on standard
    error and status 2; what could not be done (:class:`FailureError`) in one and status 1; an
    interrupt in one line and status 130; a reader of standard output that went away (``| head``) in
    status 1 without a word.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Make the context of the command, which remembers what was typed."""
        if parent is None:
            _check_readable(args)
        typed = shlex.join([info_name or "xc40io", *args])
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[_TYPED] = typed
        return context

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and exit."""
        # What Matplotlib says of a cache of its own that it cannot write matters to nobody here.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        kwargs["standalone_mode"] = False
        with printable_streams(), watching_files():
            status = self._status(*args, **kwargs)
        sys.exit(status)

    def _status(self, *args: Any, **kwargs: Any) -> int:
        """Run the command line; say what is wrong, and return the exit status."""
        status = 0
        try:
            returned = super().main(*args, **kwargs)
            sys.stdout.flush()
            status = returned if isinstance(returned, int) else 0
        except (InputError, click.ClickException) as error:
            status = _say(_sentence(error), _BAD_INPUT)
        except FailureError as error:
            status = _say(str(error), _FAILED)
        except (click.Abort, KeyboardInterrupt):
            status = _say("interrupted", INTERRUPTED)
        except MemoryError as error:
            status = _say(_too_large(error), _FAILED)
        except BrokenPipeError:
            status = _FAILED
            _discard_output()
        except OSError as error:  # a full disk under standard output, for instance
            status = _say(error.strerror or str(error), _FAILED)
            _discard_output()
        return status


def _check_readable(words: Sequence[str]) -> None:
    """Raise InputError if a word has bytes that are no letters: no file could say it again."""
    for place, word in enumerate(words, start=1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"word {place} of the command line is not text in UTF-8: "
                f"{shown(word.encode('utf-8', 'surrogateescape'))}; right would be letters, or "
                "another name for the file"
            ) from error


def typed_command() -> str:
    """Return the command line that is being run, as it can be typed again."""
    typed: str = click.get_current_context().meta[_TYPED]
    return typed


def _sentence(error: InputError | click.ClickException) -> str:
    if isinstance(error, InputError):
        return str(error)
    sentence = readable(error.format_message().rstrip("."))
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{sentence}; see {context.command_path} --help" if context else sentence


def _too_large(error: MemoryError) -> str:
    detail = f" ({error})" if str(error) else ""
    return f"there is not enough memory for that{detail}; right would be less: a smaller run"


def _say(sentence: str, status: int) -> int:
    click.echo(f"xc40io: {' '.join(sentence.split())}", err=True)
    return status


def _discard_output() -> None:
    """Discard what is still buffered, so that Python does not write it again at its end."""
    with suppress(io.UnsupportedOperation):  # a program that reads what is printed has no such file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
