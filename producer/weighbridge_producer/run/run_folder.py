"""The state folder of a run, from which an interrupted run can be resumed or cleaned up."""

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

    from weighbridge.settings import Settings

_STALE_SECONDS = 7 * 24 * 3600
_NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SAVED = ("key", "batch", "results", "resumable", "collected")


def state_root(settings: Settings) -> Path:
    """Return the folder for the state of runs: that of the settings, or one in the user's state directory."""
    if settings.state_dir:
        return settings.state_dir
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "weighbridge" / "runs"


@dataclass(frozen=True, slots=True)
class Collected:
    """Checkpoint of the results of a run."""

    cursor: str = ""  #: in the batch's results, after those written
    written_bytes: int = 0
    rows: int = 0  #: result lines written
    #: Intervals [start, end) of the input lines whose results are written.
    delivered: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, saved: dict[str, Any]) -> Self:
        """Parse the output of `dataclasses.asdict`; ValueError, KeyError or TypeError for anything else."""
        written_bytes, rows = saved["written_bytes"], saved["rows"]
        numbers = [written_bytes, rows, *(n for pair in saved["delivered"] for n in pair)]
        if not isinstance(saved["cursor"], str) or any(type(n) is not int for n in numbers):
            raise TypeError("damaged")
        delivered = tuple((start, end) for start, end in saved["delivered"])
        return cls(saved["cursor"], written_bytes, rows, delivered)


@dataclass(slots=True)
class RunState:
    """The folder of a run, locked for as long as the run lives."""

    folder: Path
    #: Identifies the input and options; a run with the same key may resume this one.
    key: dict[str, Any]
    batch: str = ""
    results: str = ""  #: path of the growing results file, if outside the folder
    resumable: bool = True
    collected: Collected = field(default_factory=Collected)
    _lock: int = field(default=-1, repr=False)

    @classmethod
    def begin(cls, root: Path, key: dict[str, Any], *, resumable: bool) -> Self:
        """Return the state of an interrupted run with the same key in a state root, or a new one."""
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = None
        for state in cls.interrupted(root):
            if resumable and state.key == key and found is None:
                found = state
            else:
                state.release()
        return found or cls._fresh(root, key, resumable=resumable)

    @classmethod
    def _fresh(cls, root: Path, key: dict[str, Any], *, resumable: bool) -> Self:
        folder = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        # Until this folder is locked, no other process may take it for an abandoned one.
        with _alone_in(root):
            folder.mkdir(mode=0o700)
            state = cls(folder, key, resumable=resumable)
            state._take()
            state.save()
            sync(root)
        return state

    @classmethod
    def interrupted(cls, root: Path) -> Iterator[Self]:
        """Yield the locked states of interrupted runs in a state root, and remove those that are stale or useless."""
        for state in cls.left_over(root):
            if state.is_useless():
                state.remove()
            else:
                yield state

    @classmethod
    def left_over(cls, root: Path) -> Iterator[Self]:
        """Yield the locked states of all runs in a state root that have ended, also those that cannot be resumed."""
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if not _is_a_runs(folder):
                continue
            with _alone_in(root):
                state = cls._load(folder)
            if state is not None:
                yield state

    @property
    def inputs(self) -> list[str]:
        """The paths of the input files; empty if the run cannot be resumed."""
        return [str(path) for path, *_ in self.key.get("input") or ()]

    @property
    def outputs(self) -> list[str]:
        """The outputs, with the absolute paths of files."""
        return list(map(str, self.key.get("outputs", ())))

    def is_useless(self) -> bool:
        """True if the run cannot or will not be resumed: no batch was created, its input is gone, or it is too old."""
        age = time.time() - self.folder.stat().st_mtime
        return not self.resumable or not self.batch or age > _STALE_SECONDS

    @classmethod
    def _load(cls, folder: Path) -> Self | None:
        """Return the state in a folder; None if its run is still alive."""
        try:
            saved = json.loads((folder / "run.json").read_bytes())
            state = cls(folder, **{name: saved[name] for name in _SAVED})
            state.key = dict(state.key)
            state.collected = Collected.parse(saved["collected"])
            sound = state._has_own_results()
        except (OSError, ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            state = cls(folder, {}, resumable=False)
        return state if state._take() else None

    def _has_own_results(self) -> bool:
        """Return whether the results path is one that this run would use, since that file is written to and removed."""
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
        """Save the run's state atomically, and sync it to disk."""
        fresh = self.folder / "run.json.new"
        saved = {name: getattr(self, name) for name in _SAVED} | {
            "collected": asdict(self.collected)
        }
        with fresh.open("w") as file:
            # Of the JSON encoders, only this one accepts file names that are not valid UTF-8.
            json.dump(saved, file)
        sync(fresh)
        fresh.replace(self.folder / "run.json")
        sync(self.folder)

    def release(self) -> None:
        """Unlock the folder without removing it."""
        os.close(self._lock)

    def remove(self) -> None:
        """Remove the folder and any results that were not delivered."""
        # First, so that a crash in between cannot leave a half-removed run that looks resumable.
        (self.folder / "run.json").unlink(missing_ok=True)
        if self.results:
            Path(self.results).unlink(missing_ok=True)
            sorting_name(Path(self.results)).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def partial_name(folder: Path) -> str:
    """Return the name of a run's results file when it is beside the output."""
    return f".weighbridge-{folder.name}.partial"


def sorting_name(results: Path) -> Path:
    """Return the temporary file used for sorting results, which a crash may leave behind."""
    return results.with_name(f"{results.name}.sorting")


def _is_a_runs(folder: Path) -> bool:
    """Return whether a folder was created by a run; others are never touched, and links are not followed."""
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
    """Hold a lock that keeps other processes from scanning for folders; it leaves no file."""
    lock = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
