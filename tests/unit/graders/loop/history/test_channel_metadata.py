"""Messages from chat channels, with the metadata that a gateway writes around them."""

from __future__ import annotations

import pytest

from support.growth import assert_takes_at_most
from weighbridge.graders.loop import LoopGrader
from weighbridge.graders.loop.history.channel_metadata import without_metadata


def block(heading, **fields):
    lines = ",\n".join(f'  "{key}": "{value}"' for key, value in fields.items())
    return f"{heading}:\n```json\n{{\n{lines}\n}}\n```\n\n"


INFO = block("Conversation info (untrusted metadata)", sender="Ada", channel="#harbour", id="7")
SENDER = block("Sender (untrusted metadata)", label="Ada (7)", name="Ada", username="ada", tag="a")
REPLY = block("Replied message (untrusted, for context)", body="Shall I go on?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{INFO}{SENDER}Draw the map.", "Draw the map."),
        (
            f"[media attached: a.png]\n{INFO}Draw it.\n{REPLY}",
            "[media attached: a.png]\n\nDraw it.",
        ),
        ("Draw the map.", "Draw the map."),
        (f"{INFO}{SENDER}", f"{INFO}{SENDER}"),
        ("Sender (untrusted metadata):\n```json\n{", "Sender (untrusted metadata):\n```json\n{"),
        ("It says (untrusted metadata): no", "It says (untrusted metadata): no"),
    ],
)
def test_blocks_of_metadata_are_left_out(text, said):
    assert without_metadata(text) == said


def test_messages_that_share_only_their_metadata_are_requests():
    wanted = ("Draw the harbour.", "List the ships.", "Who is on duty?", "Send it to Eve.")
    call = {"type": "tool", "name": "look", "arguments": {"at": "board"}, "output": "Nobody is on duty today."}  # fmt: skip
    said = {"type": "llm", "output": "There is nothing new."}

    def verdict(messages):
        steps = [step for message in messages for step in ({"type": "user", "output": message}, call, said)]  # fmt: skip
        given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
        return LoopGrader().grade({"format": "weighbridge", "steps": given})["verdict"]

    assert verdict([f"{INFO}{SENDER}{each}" for each in wanted]) == "pass"
    again = "Continue until all is done."
    assert verdict([f"{INFO}{SENDER}{again}"] * 5) == "fail"
    own = [block("Conversation info (untrusted metadata)", message_id=f"14{at}") for at in range(5)]
    assert verdict([f"{info}{SENDER}What is the status?" for info in own]) == "pass"


def test_headings_without_an_end_take_linear_time():
    def work(count):
        text = "\nSender (untrusted metadata):```json\n" * count
        assert without_metadata(text) == text
        return lambda: without_metadata(text)

    assert_takes_at_most(40, work, size=100_000, of=10_000)
