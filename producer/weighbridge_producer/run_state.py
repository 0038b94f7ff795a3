"""The folder that a run keeps while it lasts, so that an interrupted one can be resumed or cleaned away."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

_STALE_SECONDS = 7 * 24 * 3600


def state_root() -> Path:
    """Return where runs keep their state: WEIGHBRIDGE_STATE_DIR, or the user's state directory."""
    if named := os.environ.get("WEIGHBRIDGE_STATE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "weighbridge" / "runs"


@dataclass(slots=True)
class RunState:
    """One run's folder, held by a lock as long as the run lives."""

    folder: Path
    key: dict[str, Any]  #: what is run: another run of the same may resume it
    batch: str = ""
    cursor: str = ""
    written_bytes: int = 0
    resumable: bool = True
    _lock: int = field(default=-1, repr=False)

    @classmethod
    def begin(cls, key: dict[str, Any], *, resumable: bool) -> Self:
        """Return the state of an interrupted run of the same, or a fresh one."""
        root = state_root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for state in cls.interrupted():
            if state.key == key and state.resumable and resumable and state.batch:
                return state
            state.release()
        folder = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        folder.mkdir(mode=0o700)
        state = cls(folder, key, resumable=resumable)
        state._take()
        state.save()
        return state

    @classmethod
    def interrupted(cls) -> Iterator[Self]:
        """Yield the states, locked, of runs that ended without tidying up; stale or useless ones are cleaned away."""
        root = state_root()
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            state = cls._load(folder)
            if state is None:
                continue
            if (
                not state.resumable
                or not state.batch
                or time.time() - folder.stat().st_mtime > _STALE_SECONDS
            ):
                state.remove()
            else:
                yield state

    @classmethod
    def _load(cls, folder: Path) -> Self | None:
        """Return the state in a folder unless its run still lives."""
        try:
            saved = orjson.loads((folder / "run.json").read_bytes())
            state = cls(
                folder,
                saved["key"],
                saved["batch"],
                saved["cursor"],
                saved["written_bytes"],
                saved["resumable"],
            )
        except (OSError, ValueError, KeyError):
            state = cls(folder, {}, resumable=False)
        return state if state._take() else None

    def _take(self) -> bool:
        try:
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            return False
        except OSError:
            return False
        return True

    def save(self) -> None:
        """Write down how far the run has come, at once or not at all."""
        fresh = self.folder / "run.json.new"
        fresh.write_bytes(
            orjson.dumps(
                {
                    "key": self.key,
                    "batch": self.batch,
                    "cursor": self.cursor,
                    "written_bytes": self.written_bytes,
                    "resumable": self.resumable,
                }
            )
        )
        fresh.replace(self.folder / "run.json")

    def release(self) -> None:
        """Let go of the folder and leave it where it is."""
        os.close(self._lock)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
