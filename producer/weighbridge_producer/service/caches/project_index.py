"""Cache of the projects of batches, which never change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.store import Store

_KEPT = 10_000  #: cached batches


class ProjectIndex:
    """The known projects of batches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}

    def has(self, project: str, batch_id: str) -> bool:
        """Return whether a batch belongs, or belonged, to a project."""
        # Only positive answers come from the cache: a faster negative one would reveal that the batch exists.
        if self._known.get(batch_id) == project:
            return True
        if not self._store.belongs_to(batch_id, project):
            return False
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[batch_id] = project
        return True
