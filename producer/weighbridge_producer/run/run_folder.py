"""The folder that a run keeps while it lasts, so that an interrupted one can be resumed or cleaned away."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from weighbridge_producer.run.durable_files import sync

if TYPE_CHECKING:
    from collections.abc import Iterator

_STALE_SECONDS = 7 * 24 * 3600
_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SAVED = ("key", "batch", "results", "resumable", "collected")


def state_root() -> Path:
    """Return where runs keep their state: WEIGHBRIDGE_STATE_DIR, or the user's state directory."""
    if named := os.environ.get("WEIGHBRIDGE_STATE_DIR"):
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "weighbridge" / "runs"


@dataclass(frozen=True, slots=True)
class Collected:
    """How far the results of a run have come."""

    cursor: str = ""  #: in the batch's results, after what is written
    written_bytes: int = 0
    rows: int = 0  #: result lines written
    #: The lines of input whose results are written, as intervals [start, end).
    delivered: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, saved: dict[str, Any]) -> Self:
        """Read what `dataclasses.asdict` gave; raises ValueError, KeyError or TypeError for anything else."""
        written_bytes, rows = saved["written_bytes"], saved["rows"]
        numbers = [written_bytes, rows, *(n for pair in saved["delivered"] for n in pair)]
        if not isinstance(saved["cursor"], str) or any(type(n) is not int for n in numbers):
            raise TypeError("damaged")
        delivered = tuple((start, end) for start, end in saved["delivered"])
        return cls(saved["cursor"], written_bytes, rows, delivered)


@dataclass(slots=True)
class RunState:
    """One run's folder, held by a lock as long as the run lives."""

    folder: Path
    key: dict[str, Any]  #: what is run: another run of the same may resume it
    batch: str = ""
    results: str = ""  #: the file that grows, where it lies outside the folder
    resumable: bool = True
    collected: Collected = field(default_factory=Collected)
    _lock: int = field(default=-1, repr=False)

    @classmethod
    def begin(cls, key: dict[str, Any], *, resumable: bool) -> Self:
        """Return the state of an interrupted run of the same, or a fresh one."""
        root = state_root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = None
        for state in cls.interrupted():
            if resumable and state.key == key and found is None:
                found = state
            else:
                state.release()
        return found or cls._fresh(root, key, resumable=resumable)

    @classmethod
    def _fresh(cls, root: Path, key: dict[str, Any], *, resumable: bool) -> Self:
        folder = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        # Nobody may take the folder for an abandoned one before its lock is held.
        with _alone_in(root):
            folder.mkdir(mode=0o700)
            state = cls(folder, key, resumable=resumable)
            state._take()
            state.save()
            sync(root)
        return state

    @classmethod
    def interrupted(cls) -> Iterator[Self]:
        """Yield the states, locked, of runs that ended without tidying up; stale or useless ones are cleaned away."""
        root = state_root()
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if not _is_a_runs(folder):
                continue
            with _alone_in(root):
                state = cls._load(folder)
            if state is None:
                continue
            if state.is_useless():
                state.remove()
            else:
                yield state

    def is_useless(self) -> bool:
        """Whether nobody will resume it: nothing had begun, its input is gone, or it is too old."""
        age = time.time() - self.folder.stat().st_mtime
        return not self.resumable or not self.batch or age > _STALE_SECONDS

    @classmethod
    def _load(cls, folder: Path) -> Self | None:
        """Return the state in a folder unless its run still lives."""
        try:
            saved = json.loads((folder / "run.json").read_bytes())
            state = cls(folder, **{name: saved[name] for name in _SAVED})
            state.collected = Collected.parse(saved["collected"])
            sound = state._has_own_results()
        except (OSError, ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            state = cls(folder, {}, resumable=False)
        return state if state._take() else None

    def _has_own_results(self) -> bool:
        """Whether the results, which are written to and removed, are where a run of this folder puts them."""
        results = Path(self.results)
        return (
            not self.results
            or results.name == partial_name(self.folder)
            or results.parent.resolve() == self.folder.resolve()
        )

    def _take(self) -> bool:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._lock = os.open(self.folder / "lock", flags, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            return False
        except OSError:
            return False
        return True

    def save(self) -> None:
        """Write down how far the run has come, at once or not at all, and so that it outlasts a crash of the machine."""
        fresh = self.folder / "run.json.new"
        saved = {name: getattr(self, name) for name in _SAVED} | {
            "collected": asdict(self.collected)
        }
        with fresh.open("w") as file:
            # File names may be no UTF-8, which only this encoder takes.
            json.dump(saved, file)
        sync(fresh)
        fresh.replace(self.folder / "run.json")
        sync(self.folder)

    def release(self) -> None:
        """Let go of the folder and leave it where it is."""
        os.close(self._lock)

    def remove(self) -> None:
        """Remove the folder, and the results that were not delivered."""
        # First, so that a crash in between leaves nothing that could be resumed with half of what it needs.
        (self.folder / "run.json").unlink(missing_ok=True)
        if self.results:
            Path(self.results).unlink(missing_ok=True)
            sorting_name(Path(self.results)).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def partial_name(folder: Path) -> str:
    """Return the name of a run's results file where it grows beside the output."""
    return f".weighbridge-{folder.name}.partial"


def sorting_name(results: Path) -> Path:
    """Return the file in which results are put in order, which may be left behind by a crash."""
    return results.with_name(f"{results.name}.sorting")


def _is_a_runs(folder: Path) -> bool:
    """Whether a run of ours has made this folder; whatever else lies there is not touched, nor are links followed."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        _NAME.fullmatch(folder.name) is not None
        and stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and any(os.path.lexists(folder / name) for name in ("run.json", "lock"))
    )


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """Keep other processes from looking for folders meanwhile; the lock leaves no file."""
    lock = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
