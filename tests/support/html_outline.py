"""What stands in a page of HTML, read strictly: elements that are not closed are errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "img", "hr", "input"}


@dataclass
class Outline(HTMLParser):
    """The elements of a page.

    Attributes
    ----------
    elements
        Each with its name and attributes, in their order.
    texts
        What stands in elements of a name, by that name: the text of each, all within it included.
    """

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, list[str]]] = []

    @staticmethod
    def of(text: str) -> Outline:
        """Read a page.

        Raises
        ------
        AssertionError
            If it is not whole.
        """
        outline = Outline()
        outline.feed(text)
        outline.close()
        assert not outline._open, f"not closed: {[name for name, _ in outline._open]}"
        return outline

    def all(self, name: str) -> list[dict[str, str]]:
        """Return the attributes of all elements of a name."""
        return [attributes for found, attributes in self.elements if found == name]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that begins."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append((tag, []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content, as SVG has them."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Note that an element ends: the one that began last."""
        name, pieces = self._open.pop()
        assert name == tag, f"<{name}> ends with </{tag}>"
        self.texts.setdefault(name, []).append("".join(pieces))

    def handle_data(self, data: str) -> None:
        """Note a text."""
        for _, pieces in self._open:
            pieces.append(data)
