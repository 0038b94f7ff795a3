"""Images in messages and results: the text has a mark in place of each image, and equal images have equal marks."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

OMITTED = "[image]"  #: mark of an image whose data the source omits
_DATA_KEYS = (
    *("data", "url", "image_url", "image", "source", "inlineData", "inline_data", "inline"),
    *("file_id", "fileUri", "file_uri", "base64", "bytes", "path"),
)
_MIME_KEYS = ("mimeType", "mime_type", "media_type", "mediaType")
_LEVELS = 3  #: depth to which the objects within a part are searched
_DATA_CHARACTERS = 8  #: minimum length of data, an address or an id
_PLACEHOLDER = re.compile(
    r"\W{0,5}(?:\w{1,20}\W{1,3}){0,3}(?:omitted|removed|redacted|truncated|stripped|elided|placeholder|masked|hidden)\b.{0,40}",
    re.IGNORECASE | re.DOTALL,
)


def image_mark(part: Mapping[str, Any]) -> str:
    """Return the mark of a part of a message that is an image, with a digest of its data or address; "" for another part."""
    if not _is_image(part, _LEVELS):
        return ""
    data = _data_of(part, _LEVELS)
    if data.startswith("data:"):
        data = data.partition(",")[2]
    if len(data) < _DATA_CHARACTERS or _PLACEHOLDER.fullmatch(data):
        return OMITTED
    digest = hashlib.blake2b(data.encode("utf-8", "surrogatepass"), digest_size=4)
    return f"[image {digest.hexdigest()}]"


def is_omitted(value: Any) -> bool:
    """Return whether a value is an image without its data, or a list of such images."""
    parts = value if type(value) is list else [value]
    return bool(parts) and all(type(part) is dict and image_mark(part) == OMITTED for part in parts)


def _is_image(part: Mapping[str, Any], levels: int) -> bool:
    """Return whether a part says in its type, or in a media type, that it is an image."""
    kind = part.get("type")
    if type(kind) is str and ("image" in kind.lower() or "screenshot" in kind.lower()):
        return True
    media = [part.get(key) for key in _MIME_KEYS]
    if any(type(each) is str and each.startswith("image/") for each in media):
        return True
    held = [part.get(key) for key in _DATA_KEYS]
    return levels > 1 and any(type(each) is dict and _is_image(each, levels - 1) for each in held)


def _data_of(part: Mapping[str, Any], levels: int) -> str:
    """Return the data of an image, or its address or id; "" if there is none."""
    for key in _DATA_KEYS:
        held = part.get(key)
        if type(held) is str and held:
            return held
        if type(held) is dict and levels > 1 and (data := _data_of(held, levels - 1)):
            return data
    return ""
