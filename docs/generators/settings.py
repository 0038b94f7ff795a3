"""Reference of all settings, from the settings model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.tables import code, table
from weighbridge.doc_comments import doc_comments
from weighbridge.settings import GIB, KIB, MIB, Settings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

#: The first setting of each section, and the section's title.
SECTIONS = {
    "redis_url": "Addresses",
    "line_limit_bytes": "Input",
    "chunk_limit_bytes": "Chunks",
    "job_deadline_seconds": "Grading",
    "batch_expiry_seconds": "Batches",
    "baseline_folder": "Files and logs",
    "upload_limit_bytes": "The service",
}
_SIZES = ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))
_TIMES = ((86400, "days"), (3600, "hours"))


def markdown() -> str:
    """Return a table of settings for each section."""
    said = doc_comments(Settings)
    sections: list[tuple[str, list[tuple[str, str, str]]]] = []
    for name, field in Settings.model_fields.items():
        if name in SECTIONS:
            sections.append((SECTIONS[name], []))
        row = (code(f"WEIGHBRIDGE_{name.upper()}"), _default(name, field), " ".join(said[name]))
        sections[-1][1].append(row)
    return "\n\n".join(
        f"## {title}\n\n{table(('variable', 'default', 'what it sets'), rows)}"
        for title, rows in sections
    )


def _default(name: str, field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "none"
    units = _SIZES if name.endswith("_bytes") else _TIMES if name.endswith("_seconds") else ()
    shown = next(
        (
            f" ({value // size} {unit})"
            for size, unit in units
            if value and not value % size and value > size
        ),
        "",
    )
    bounds = ", ".join(filter(None, map(_bound, field.metadata)))
    return f"{code(str(value))}{shown}" + (f"; {bounds}" if bounds else "")


def _bound(constraint: object) -> str:
    """Return the bounds of a setting, other than being positive."""
    most, least = getattr(constraint, "le", None), getattr(constraint, "ge", None)
    if most is not None:
        return f"at most {code(str(most))}"
    return f"at least {code(str(least))}" if least else ""
