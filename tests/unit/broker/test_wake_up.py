"""The wake-up message, as it is sent and as a worker accepts it."""

from __future__ import annotations

import orjson
import pytest

from weighbridge.broker.wake_up import WakeUp


def test_a_message_is_read_as_it_was_sent() -> None:
    message = WakeUp(lane="grader:mine@2", hops=3)
    assert WakeUp.parse(orjson.loads(orjson.dumps(message.as_arguments()))) == message


def test_more_than_a_message_says_is_left_out() -> None:
    assert WakeUp.parse(WakeUp(9)._asdict() | {"countdown": 5}) == WakeUp(9)


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {},
        {"schema_version": 1, "lane": ""},
        {"schema_version": "1", "lane": "", "hops": 0},
        {"schema_version": 1, "lane": None, "hops": 0},
        {"schema_version": 1, "lane": "", "hops": -1},
        {"schema_version": 1, "lane": "", "hops": 0.5},
    ],
)
def test_what_is_no_message_is_refused(said: object) -> None:
    assert WakeUp.parse(said) is None
