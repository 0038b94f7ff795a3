"""The wake-up message, as it is sent and as a worker accepts it."""

from __future__ import annotations

import orjson
import pytest
from kombu import Connection

from weighbridge.broker.wake_up import GRADE_TASK, WakeUp


def test_a_message_is_read_as_it_was_sent() -> None:
    message = WakeUp(lane="grader:mine@2", hops=3)
    assert WakeUp.from_bytes(message.to_bytes("q", "the-task")) == (message, "the-task")


def test_kombu_reads_a_message_as_a_call_of_the_task() -> None:
    with Connection("memory://") as connection, connection.channel() as channel:
        item = orjson.loads(WakeUp(lane="grader:mine@2").to_bytes("q", "the-task"))
        message = channel.Message(item, channel=channel, accept={"application/json"})
    assert (message.headers["task"], message.headers["id"]) == (GRADE_TASK, "the-task")
    assert message.payload == [[], {"schema_version": 1, "lane": "grader:mine@2", "hops": 0}, {}]


def test_each_message_has_an_id_and_a_tag_of_its_own() -> None:
    first, second = (orjson.loads(WakeUp().to_bytes("q")) for _ in range(2))
    assert first["headers"]["id"] != second["headers"]["id"]
    assert first["properties"]["delivery_tag"] != second["properties"]["delivery_tag"]


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
