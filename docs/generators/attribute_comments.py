"""Uses the `#:` comment of an attribute as its docstring in the Python reference."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from griffe import Attribute, Docstring, Extension

from weighbridge.doc_comments import comment_above

_AT_END = re.compile(r"#: (.+)$")


class AttributeComments(Extension):
    """Extension that reads the comment above an attribute, or at the end of its line."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Set the docstring of an attribute without one from its comment."""
        if attr.docstring or attr.lineno is None or not isinstance(attr.filepath, Path):
            return
        lines = _lines(attr.filepath)
        at_end = _AT_END.search(lines[(attr.endlineno or attr.lineno) - 1])
        text = at_end[1] if at_end else " ".join(comment_above(lines, attr.lineno))
        if text:
            attr.docstring = Docstring(text, lineno=attr.lineno, parent=attr)


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
