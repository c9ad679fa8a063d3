"""The words of a shell script: commands cut into words, words into what is literal and what is not.

A command is what stands between two of ``;``, ``&``, ``|``, brackets and ends of lines; where its
input and output go is left out. Nothing is run, and nothing is expanded: that does
:mod:`xc40io.workloads.job_script.shell`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from xc40io.config.errors import InputError


class Piece(NamedTuple):
    """A part of a word."""

    text: str
    expands: bool = False  # $NAME, ${...}, $(...), `...`: the shell puts something else in place
    quoted: bool = False  # blanks in it separate no words


Word = tuple[Piece, ...]


class Command(NamedTuple):
    """A simple command of a script."""

    line: int  # where it begins, from 1
    words: tuple[Word, ...]
    behind: bool  # started in the background, by &


class Comment(NamedTuple):
    """A line that begins with ``#``."""

    line: int
    text: str
    first: bool  # no command stands before it


_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-]")
_ENDS = ";&|()\n"
_REDIRECTION = re.compile(r"(?:[0-9]*|&)(<<<|<<-?|>>|>\||>&|<&|<>|<|>)")
_DESCRIPTOR = re.compile(r"[0-9]+|-")


def lexed(text: str, place: str) -> Iterator[Command | Comment]:
    """Yield the commands of a script, and its lines that are comments, in their order.

    Raises
    ------
    InputError
        If a quote or a bracket is never closed.
    """
    return _Lexer(text.replace("\r\n", "\n"), place).run()


class _Lexer:
    def __init__(self, text: str, place: str) -> None:
        self._text, self._place = text, place
        self._at = 0
        self._line, self._counted = 1, 0
        self._words: list[Word] = []
        self._pieces: list[Piece] | None = None  # of the word that is being read
        self._began = 1
        self._documents: list[tuple[str, bool]] = []  # here-documents that begin at the next line
        self._redirected = False  # the next word is a file
        self._any = False

    def run(self) -> Iterator[Command | Comment]:
        """Read it all."""
        text = self._text
        while self._at < len(text):
            letter = text[self._at]
            if letter == "#" and self._pieces is None:
                yield from self._comment()
            elif letter in _ENDS:
                behind = letter == "&" and text[self._at : self._at + 2] != "&&"
                if behind and (found := _REDIRECTION.match(text, self._at)):
                    self._redirect(found)
                    continue
                yield from self._ended(behind=behind)
                self._at += 1
                if letter == "\n":
                    self._skip_documents()
            elif letter in " \t":
                self._end_word()
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif self._pieces is None and (found := _REDIRECTION.match(text, self._at)):
                self._redirect(found)
            elif letter in "<>":
                self._end_word()
            else:
                self._piece(letter)
        yield from self._ended(behind=False)

    def _number(self) -> int:
        """Return the number of the present line."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _comment(self) -> Iterator[Comment]:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        begin = self._text.rfind("\n", 0, self._at) + 1
        if begin == self._at and not self._words:
            yield Comment(self._number(), self._text[self._at : end], not self._any)
        self._at = end

    def _ended(self, *, behind: bool) -> Iterator[Command]:
        self._end_word()
        self._redirected = False
        if self._words:
            self._any = True
            yield Command(self._began, tuple(self._words), behind)
            self._words = []

    def _end_word(self) -> None:
        if self._pieces is None:
            return
        word, self._pieces = tuple(self._pieces), None
        if self._redirected:
            self._redirected = False
        else:
            self._words.append(word)

    def _add(self, piece: Piece) -> None:
        if self._pieces is None:
            self._pieces = []
            if not self._words:
                self._began = self._number()
        if piece.text or piece.quoted:
            self._pieces.append(piece)

    def _piece(self, letter: str) -> None:
        """Read a part of a word."""
        text, at = self._text, self._at
        if letter == "\\":
            self._add(Piece(text[at + 1 : at + 2], quoted=True))
            self._at += 2
        elif letter == "'":
            end = self._closing(text.find("'", at + 1), "a quote (')")
            self._add(Piece(text[at + 1 : end], quoted=True))
            self._at = end + 1
        elif letter == '"':
            self._double()
        elif letter in "$`" and (end := self._expansion(at)) > at:
            self._add(Piece(text[at:end], expands=True))
            self._at = end
        else:
            self._add(Piece(letter))
            self._at += 1

    def _double(self) -> None:
        """Read what stands between double quotes."""
        text, begin = self._text, self._at
        self._add(Piece("", quoted=True))
        at = begin + 1
        while True:
            found = re.compile(r'["\\$`]').search(text, at)
            end = self._closing(found.start() if found else -1, 'a quote (")')
            self._add(Piece(text[at:end], quoted=True))
            if text[end] == '"':
                break
            if text[end] == "\\":
                escaped = text[end + 1 : end + 2]
                kept = escaped if escaped in '$`"\\' else f"\\{escaped}"
                self._add(Piece("" if escaped == "\n" else kept, quoted=True))
                at = end + 2
                continue
            at = self._expansion(end)
            self._add(Piece(text[end:at], expands=at > end, quoted=True))
            if at == end:  # a dollar by itself
                self._add(Piece(text[end], quoted=True))
                at += 1
        self._at = end + 1

    def _closing(self, end: int, what: str) -> int:
        if end < 0:
            raise InputError(f"{self._place}, line {self._number()}: {what} is never closed")
        return end

    def _expansion(self, at: int) -> int:
        """Return where what the shell expands ends, or where it begins if it is none."""
        text = self._text
        if text[at] == "`":
            return self._closing(text.find("`", at + 1), "a quote (`)") + 1
        if text[at + 1 : at + 2] in ("(", "{"):
            return self._bracketed(at + 1)
        found = _NAME.match(text, at + 1)
        return found.end() if found else at

    def _bracketed(self, at: int) -> int:
        """Return where the bracket that opens here is closed; quotes in it are looked over."""
        opens, closes = self._text[at], {"(": ")", "{": "}"}[self._text[at]]
        depth, quote = 0, ""
        for place in range(at, len(self._text)):
            letter = self._text[place]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "'\"" and opens == "(":
                quote = letter
            elif letter in (opens, closes):
                depth += 1 if letter == opens else -1
                if not depth:
                    return place + 1
        return self._closing(-1, f"a bracket (${opens})")

    def _redirect(self, found: re.Match[str]) -> None:
        """Leave out where input or output goes."""
        self._end_word()
        self._at = found.end()
        sign = found[1]
        if sign in (">&", "<&") and (number := _DESCRIPTOR.match(self._text, self._at)):
            self._at = number.end()
            return
        if sign in ("<<", "<<-"):
            ended = re.compile(r"""[ \t]*(?:(['"])(.*?)\1|\\?([^\s;&|<>()]+))""").match(
                self._text, self._at
            )
            if ended:
                self._documents.append((ended[2] or ended[3] or "", sign == "<<-"))
                self._at = ended.end()
                return
        self._redirected = True

    def _skip_documents(self) -> None:
        """Go over here-documents, to the lines that end them."""
        for name, tabs in self._documents:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if (line.lstrip("\t") if tabs else line) == name:
                    break
        self._documents = []
