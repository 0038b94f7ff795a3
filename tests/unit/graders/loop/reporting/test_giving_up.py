"""Answers after a loop that only say that the agent gives up: it has not left the loop."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

STUCK = [
    {"type": "tool", "name": "refund", "arguments": {"order": 7}, "error": "locked"}
    for _ in range(5)
]


def recovered(*after):
    steps = [{"id": f"s{at}", **step} for at, step in enumerate((*STUCK, *after))]
    result = LoopGrader(config={"fail_on": "unrecovered"}).grade({"format": "weighbridge", "steps": steps})  # fmt: skip
    [loop] = result["details"]["loops"]
    assert (result["verdict"] == "pass") == loop["recovered"]
    return loop["recovered"]


def says(text):
    return {"type": "llm", "output": text}


@pytest.mark.parametrize(
    "text",
    [
        "I give up; it is still rolling.",
        "The tests still fail.",
        "The build is still broken.",
        "The job is still queued.",
        "Let me try again.",
        "The order was not found. I'll keep trying.",
        "The refund service is locked.",
        "I could not apply the edit",
        "The refund never finished. I give up.",
        "Unfortunately, I was unable to complete the refund. Please contact support.",
        "I'm sorry, but I can't refund this order.",
        "I've tried several ways, but the refund could not be made.",
        "I apologize for the delay, but I cannot proceed.",
        "I couldn\u2019t refund the order.",
        "I added nothing, as I could not open the file.",
        "The refund service is temporarily unavailable at the moment.",
        "Unable to proceed.",
        "I cannot go on without the password.",
        "I'm stuck.",
        "failed",
        "**FAILED**",
        "Error!",
        "Sorry, it failed again.",
        "I tried the mirror. All attempts have failed.",
        "Failed after 4 attempts.",
        "It didn\u2019t work.",
        "The task failed",
        "I do not know how to continue.",
        "I added a retry, but the refund fails all the same and I give up.",
    ],
)
def test_an_answer_that_only_says_that_the_agent_gives_up_is_no_recovery(text):
    assert not recovered(says(text))
    assert not recovered(says("Let me look at it once more."), says(text))
    assert not recovered({"type": "tool", "name": "finish", "arguments": {"message": text}})


@pytest.mark.parametrize(
    "text",
    [
        "There is none.",
        "No such order.",
        "All tests pass now. I'll keep the change.",
        "Here are the sums: 4, 5, 6. I'll keep the file for later.",
        "I will wait for your word before I delete the bucket.",
        "I fixed it. Let me try again.",
        "The request is still pending because the manager is away.",
        "Sorry for the delay. Your order has shipped.",
        "I'm sorry to hear that. I have refunded the order.",
        "I apologize for the inconvenience. Here is your receipt.",
        "All tests pass. I couldn't run the slow ones.",
        "The order was refunded; I could not change the address.",
        "The door was locked, so I used the key. It is open now.",
        "I fixed the parser, which failed to read empty lines.",
        "Fixed the crash that came when the server is down.",
        "I found the reason: the port is blocked.",
        "The table is locked by the backup of the orders.",
        "It fails whenever the server is down.",
        "The refund is unavailable in cash, so it went to the card.",
        "The order is stuck in the queue.",
        "I know how to proceed: the cache has it.",
        "Failed: test_a, test_b.",
        "The nightly build failed.",
        "The order was refunded. The request for the receipt failed.",
        "The first attempt failed. The order is refunded.",
        "No error.",
        "Unable to find a window seat, I took one on the aisle, and the flight is booked.",
        "All of them are open and none is locked.",
        "I gave up the old parser. All tests pass.",
        "I could not reproduce it at first, but the fix is in and all tests pass.",
    ],
)
def test_an_answer_that_says_more_is_a_recovery(text):
    assert recovered(says(text))


def test_what_the_agent_does_before_it_gives_up_is_a_recovery():
    look = {"type": "tool", "name": "read_file", "arguments": {"path": "a.md"}, "output": "a note"}
    assert recovered(look, says("I give up."))


def test_only_the_answers_to_the_request_that_the_agent_gives_up_do_not_count():
    asks = {"type": "user", "output": "And where is the other parcel that I ordered in May?"}
    assert recovered(says("I could not refund it."), asks, says("It ships on Monday."))
    assert recovered(says("It is a gift."), asks, says("I could not find out."))
    assert not recovered(says("I could not refund it."), asks, says("I could not find out."))
