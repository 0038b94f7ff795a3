"""Detection of dead workers: those without a heartbeat while others have one, but none after a stall of the server."""

from __future__ import annotations

from weighbridge_worker.parent.liveness import Liveness

GAP = 4.0


def looks(liveness: Liveness, alive: set[str], start: float, seconds: float) -> set[str]:
    """Check twice a second for some time, and return the workers found dead."""
    gone: set[str] = set()
    for step in range(int(seconds * 2)):
        gone |= liveness.note(alive, start + step / 2)
    return gone


def test_a_worker_with_a_heartbeat_is_not_gone() -> None:
    liveness = Liveness(GAP)
    assert looks(liveness, {"a", "b"}, 100, 20) == set()
    assert not liveness.is_gone("a")


def test_a_worker_that_falls_silent_is_gone_after_a_while_and_is_told_once() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 5)
    assert liveness.note({"b"}, 105.0) == set()
    assert not liveness.is_gone("a")
    assert looks(liveness, {"b"}, 105.5, 5) == {"a"}
    assert liveness.is_gone("a")
    assert not liveness.is_gone("b")
    assert looks(liveness, {"b"}, 110.5, 5) == set()
    assert liveness.is_gone("a")


def test_a_worker_with_a_new_heartbeat_is_back() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 2)
    assert looks(liveness, {"b"}, 102, 5) == {"a"}
    assert liveness.note({"a", "b"}, 107) == set()
    assert not liveness.is_gone("a")
    assert looks(liveness, {"b"}, 107.5, 5) == {"a"}


def test_a_worker_is_alive_or_gone_or_neither_for_a_moment() -> None:
    liveness = Liveness(GAP)
    assert not liveness.was_alive("a")
    looks(liveness, {"a"}, 100, 2)
    assert liveness.was_alive("a")
    liveness.note(set(), 102)
    assert not liveness.was_alive("a")
    assert not liveness.is_gone("a")


def test_a_worker_that_was_never_heard_is_gone_after_some_time_of_listening() -> None:
    liveness = Liveness(GAP)
    liveness.note({"b"}, 100)
    assert not liveness.is_gone("a")
    liveness.note({"b"}, 101)
    assert not liveness.is_gone("a")
    liveness.note({"b"}, 102)
    assert liveness.is_gone("a")


def test_after_a_server_that_stalled_nobody_is_gone_before_there_was_time_to_be_heard() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 5)
    # All heartbeats expired while the server did not answer.
    assert liveness.note(set(), 130) == set()
    assert not liveness.is_gone("a")
    assert liveness.note({"a"}, 131) == set()
    assert looks(liveness, {"a", "b"}, 131.5, 10) == set()


def test_a_worker_that_died_while_the_server_was_away_is_gone_soon_after() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 5)
    assert looks(liveness, {"b"}, 130, 1.5) == set()
    assert looks(liveness, {"b"}, 131.5, 3) == {"a"}


def test_a_look_that_is_late_by_less_than_a_heartbeat_lives_is_no_stall() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 5)
    assert liveness.note({"b"}, 104.5 + GAP - 0.5) == {"a"}


def test_whoever_begins_to_sweep_knows_of_nobody_yet() -> None:
    liveness = Liveness(GAP)
    looks(liveness, {"a", "b"}, 100, 5)
    looks(liveness, {"b"}, 105, 5)
    assert liveness.is_gone("a")
    liveness.forget()
    assert liveness.note({"b"}, 110) == set()
    assert not liveness.is_gone("a")
    looks(liveness, {"b"}, 110.5, 3)
    assert liveness.is_gone("a")
