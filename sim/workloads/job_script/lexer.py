"""The words of a shell script: commands cut into words, words into what is literal and what is not.

A command is what stands between two of ``;``, ``&``, ``|``, brackets and ends of lines. ``((N=4))``
is a command of two words, ``((`` and what stands within; an array is no command. Of redirections
the file is kept that output goes to. Nothing is run, and nothing is expanded: that does
:mod:`xc40io.workloads.job_script.shell`.

The grammar is a few rules for shells of three kinds, and scripts with errors have meaning, too.
Libraries for it were looked at: bashlex has neither arrays nor arithmetic and is under the GPL;
tree-sitter-bash knows no csh, makes an error node of what it does not know, and would need an
expansion of its nodes as long as this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
    into: Word | None = None  # the file that its output goes to
    adds: bool = False  # to the end of that file (>>)


class Array(NamedTuple):
    """``NAME=(a b c)``."""

    line: int
    name: str
    added: bool  # NAME+=(...)
    words: tuple[Word, ...]


class Function(NamedTuple):
    """``NAME()`` or ``function NAME``; what is in it follows, in braces."""

    line: int
    name: str


class Document(NamedTuple):
    """A here-document whose text goes to a file: ``cat > FILE << EOF``, ``tee FILE << EOF``."""

    line: int
    into: Word
    adds: bool
    text: Word


class Comment(NamedTuple):
    """A line that begins with ``#``."""

    line: int
    text: str
    first: bool  # no command stands before it


_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9@*#?$!-]")
_C_NAME = re.compile(r"#?[A-Za-z_][A-Za-z_0-9]*(?:\[[^\]\n]*\])?|[0-9*#?$!<]")
"""What may stand behind a dollar; csh counts by ``$#NAME``, and an element is ``$NAME[2]``."""

_C_SHELL = re.compile(
    r"\A#!\s*\S*csh\b|^#PBS\s+-S\s+\S*csh\b|^[ \t]*(?:setenv|foreach|@)[ \t]", re.MULTILINE
)
_ENDS = ";&|()\n"
_REDIRECTION = re.compile(r"(?:[0-9]*|&)(<<<|<<-?|>>|>\||>&|<&|<>|<|>)")
_DESCRIPTOR = re.compile(r"[0-9]+|-")
_ARRAY = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)(\+?)=")
_NOTHING = re.compile(r"\([ \t]*\)")
_BRACKETS = {"(": ")", "{": "}", "[": "]"}


_FOREACH, _SET, _EQUALS, _TEE, _FUNCTION, _OPEN, _CLOSE = (
    tuple(map(Piece, word)) for word in ("foreach", "set", "=", "tee", "function", "{", "}")
)

Part = Command | Comment | Array | Document | Function


def inside(text: str, place: str) -> Word:
    """Return what a text is between double quotes, where none of the quotes in it ends it."""
    return _Lexer(text, place).quoted()


def is_c_shell(text: str) -> bool:
    """Tell whether a script is one of csh or tcsh: it says so, or has their words."""
    return _C_SHELL.search(text) is not None


def body_of(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield what is in a function, off the parts behind its name."""
    depth = 0
    for part in parts:
        if isinstance(part, Command):
            opens, closes = part.words[0] == _OPEN, part.words[0] == _CLOSE
            depth += opens - closes
            if opens and depth == 1:
                part = part._replace(words=part.words[1:])
            if depth and part.words:
                yield part
        elif depth:
            yield part
        if not depth and not isinstance(part, Comment | Function):
            return


def lexed(text: str, place: str) -> Iterator[Part]:
    """Yield the parts of a script in their order: commands, and lines that are comments.

    Raises
    ------
    InputError
        If a quote or a bracket is never closed.
    """
    return _Lexer(text.replace("\r\n", "\n"), place).run()


class _Lexer:
    def __init__(self, text: str, place: str) -> None:
        self._text, self._place = text, place
        self._c_shell = is_c_shell(text)
        self._at = 0
        self._line, self._counted = 1, 0
        self._words: list[Word] = []
        self._pieces: list[Piece] | None = None  # of the word that is being read
        self._began = 1
        self._documents: list[_Ahead] = []  # here-documents that begin at the next line
        self._redirected = ""  # the next word is a file: how it is redirected
        self._into: Word | None = None
        self._adds = False
        self._any = False

    def quoted(self) -> Word:
        """Read all of it as what stands between double quotes."""
        self._double("")
        return tuple(self._pieces or ())

    def run(self) -> Iterator[Part]:
        """Read it all."""
        text = self._text
        while self._at < len(text):
            letter = text[self._at]
            if letter == "#" and self._pieces is None:
                yield from self._comment()
            elif letter == "(" and (made := self._bracket()) is not None:
                yield from made
            elif letter in _ENDS:
                behind = letter == "&" and text[self._at : self._at + 2] != "&&"
                if behind and (found := _REDIRECTION.match(text, self._at)):
                    self._redirect(found)
                    continue
                yield from self._ended(behind=behind)
                yield from self._next(letter)
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

    def _next(self, letter: str) -> Iterator[Document]:
        """Go on behind what ends a command; here-documents begin behind the end of a line."""
        self._at += 1
        if letter == "\n":
            yield from self._read_documents()

    def _bracket(self) -> tuple[Array | Function, ...] | None:
        """Read what a bracket begins that groups no commands: an array, arithmetic, a function."""
        if self._arithmetic():
            return ()
        if (empty := _NOTHING.match(self._text, self._at)) and not self._c_shell:
            self._end_word()
            self._at = empty.end()
            name, self._words = self._words[-1:], []
            return tuple(Function(self._began, _literal(word)) for word in name)
        if self._c_shell and len(self._words) == 2 and self._words[0] == _FOREACH:
            self._at += 1  # foreach NAME (a b c)
            return ()
        array = self._array()
        return None if array is None else (array,)

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

    def _ended(self, *, behind: bool) -> Iterator[Command | Function]:
        self._end_word()
        self._redirected = ""
        into, self._into = self._into, None
        tee = bool(self._words) and self._words[0] == _TEE
        for ahead in self._documents:
            ahead.into = ahead.into or into or (self._words[-1] if tee else None)
            ahead.adds = ahead.adds or self._adds
        if self._words[:1] == [_FUNCTION] and len(self._words) > 1:
            yield Function(self._began, _literal(self._words[1]))
            del self._words[:2]
        if self._words:
            self._any = True
            yield Command(self._began, tuple(self._words), behind, into, self._adds)
            self._words = []
        self._adds = False

    def _arithmetic(self) -> bool:
        """Read ``((...))`` as two words; False if there is none."""
        text, at = self._text, self._at
        if not text.startswith("((", at) or self._pieces is not None:
            return False
        self._at = self._bracketed(at)
        self._add(Piece("(("))
        self._end_word()
        self._add(Piece(text[at + 2 : max(self._at - 2, at + 2)], quoted=True))
        return True

    def _array(self) -> Array | None:
        """Read an array, if the bracket here begins one."""
        pieces = list(self._pieces or ())
        if self._words[:1] + self._words[2:] == [_SET, _EQUALS] and not pieces:  # of csh
            pieces = [piece for word in self._words[1:] for piece in word]
            del self._words[1:]
        found = _ARRAY.fullmatch("".join(piece.text for piece in pieces if not piece.expands))
        if found is None:
            return None
        end = self._bracketed(self._at)
        within = self._text[self._at + 1 : end - 1]
        words = [word for part in lexed(within, self._place) for word in _words_of(part)]
        self._pieces = None
        array = Array(self._number(), found[1], bool(found[2]), tuple(words))
        self._at = end
        return array

    def _end_word(self) -> None:
        if self._pieces is None:
            return
        word, self._pieces = tuple(self._pieces), None
        if self._redirected:
            if self._redirected in (">", ">>", ">|"):
                self._into, self._adds = word, self._redirected == ">>"
            self._redirected = ""
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
            self._at += 1
            self._double('"')
        elif letter in "$`" and (end := self._expansion(at)) > at:
            self._add(Piece(text[at:end], expands=True))
            self._at = end
        else:
            self._add(Piece(letter))
            self._at += 1

    def _double(self, quote: str) -> None:
        """Read what stands between double quotes; without a quote that ends it, all the rest."""
        text, at = self._text, self._at
        self._add(Piece("", quoted=True))
        while True:
            found = re.compile(rf"[{quote}\\$`]").search(text, at)
            if found is None and not quote:
                self._add(Piece(text[at:], quoted=True))
                return
            end = self._closing(found.start() if found else -1, 'a quote (")')
            self._add(Piece(text[at:end], quoted=True))
            if text[end] == quote:
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
        if text[at + 1 : at + 2] in _BRACKETS:
            return self._bracketed(at + 1)
        found = (_C_NAME if self._c_shell else _NAME).match(text, at + 1)
        return found.end() if found else at

    def _bracketed(self, at: int) -> int:
        """Return where the bracket that opens here is closed; quotes in it are looked over."""
        opens, closes = self._text[at], _BRACKETS[self._text[at]]
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
        """Read where input or output goes."""
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
                name, typed = ended[2] or ended[3] or "", ended[0].strip()
                self._documents.append(_Ahead(name, tabs=sign == "<<-", plain=typed != name))
                self._at = ended.end()
                return
        self._redirected = sign if found[0] in (sign, f"1{sign}", f"&{sign}") else "2>"

    def _read_documents(self) -> Iterator[Document]:
        """Read here-documents, to the lines that end them."""
        documents, self._documents = self._documents, []
        for ahead in documents:
            line, lines = self._number(), []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                one = self._text[self._at : end]
                one = one.lstrip("\t") if ahead.tabs else one
                self._at = min(end + 1, len(self._text))
                if one == ahead.name:
                    break
                lines.append(f"{one}\n")
            if ahead.into is not None:
                text = "".join(lines)
                word = (Piece(text, quoted=True),) if ahead.plain else inside(text, self._place)
                yield Document(line, ahead.into, ahead.adds, word)


@dataclass
class _Ahead:
    """A here-document that a line has named and that begins at the next one."""

    name: str
    tabs: bool
    plain: bool  # nothing in it is expanded
    into: Word | None = None
    adds: bool = False


def _literal(word: Word) -> str:
    return "".join(piece.text for piece in word)


def _words_of(part: Part) -> tuple[Word, ...]:
    return part.words if isinstance(part, Command | Array) else ()
