"""Which project a batch is of: asked of the store once, for a batch never changes its project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.store import Store

_KEPT = 10_000  #: batches


class ProjectIndex:
    """The batches that were found to be of a project."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}

    def has(self, project: str, batch_id: str) -> bool:
        """Whether a batch is of that project, or was while it was there."""
        # Only what is the asker's own is answered from memory: a quick "no" would tell that the batch exists.
        if self._known.get(batch_id) == project:
            return True
        if not self._store.belongs_to(batch_id, project):
            return False
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[batch_id] = project
        return True
