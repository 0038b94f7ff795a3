"""Families of runs with loops, each in many variants, with the calls of the loop marked."""

from __future__ import annotations

from random import Random
from typing import Any

from support.synthetic_traces import Call, Events, Family, Say, User
from support.synthetic_vocabulary import (
    CITIES,
    NOUNS,
    code,
    failing_call,
    looped,
    one_call,
    page,
    path,
    sentence,
    token,
    work,
)

TEXTS = (
    "I'm sorry, I cannot complete this request right now.",
    "I apologize for the confusion. Let me try to resolve this issue for you.",
    "It seems there is still an issue with the booking. Would you like me to look for another date?",
    "The task is complete. All files were updated and the tests pass as expected.",
    "I need your account number to go on. Please give it to me when you have it at hand.",
    "I will try again.",
)
REPLIES = (
    "No, that is not what I asked for.",
    "Please go on.",
    "Are you sure?",
    "I already told you that.",
    "Could you look once more?",
    "Hm, still nothing here.",
    "Why is that?",
)


def _call_once(rng: Random) -> tuple[str, dict[str, Any], Any]:
    call = one_call(rng)
    return call.tool, call.arguments, call.result


def exact_repeat(rng: Random) -> Events:
    call = _call_once(rng)
    return [looped(*call) for _ in range(rng.randint(4, 10))]


def failing_repeat(rng: Random) -> Events:
    call = failing_call(rng)
    return [looped(*call) for _ in range(rng.randint(4, 12))]


def unchanged_polling(rng: Random) -> Events:
    state = {"status": rng.choice(("pending", "running", "queued")), "job": token(rng)}
    return [looped("get_status", {"job": state["job"]}, state) for _ in range(rng.randint(4, 9))]


def reworded_arguments(rng: Random) -> Events:
    """The same words with different case, order, spacing or punctuation, and added small words."""
    words = [token(rng, 7) for _ in range(4)]
    result = rng.choice((page(rng), "No results found.", "[]"))

    def variant() -> str:
        mixed = list(words)
        if rng.random() < 0.4:
            rng.shuffle(mixed)
        if rng.random() < 0.4:
            mixed.insert(rng.randrange(4), rng.choice(("the", "for", "of", "in")))
        text = (" " if rng.random() < 0.6 else "  ").join(mixed)
        return rng.choice((text, text.title(), text + "?", text + ".", f'"{text}"'))

    return [looped("search", {"query": variant()}, result) for _ in range(rng.randint(4, 8))]


def near_identical_edits(rng: Random) -> Events:
    """A long failing replacement with varying indentation and comments."""
    old, new, where = code(rng, 7), code(rng, 9), path(rng)
    result = f"Error: old text not found in {where}. Make sure it matches exactly."

    def variant() -> dict[str, Any]:
        indent = " " * rng.choice((0, 4, 8))
        before = [indent + line for line in old.split("\n")]
        if rng.random() < 0.5:
            before.append(indent + "# end")
        after = new if rng.random() < 0.5 else new + "\n"
        return {"path": where, "old": "\n".join(before), "new": after}

    return [looped("replace_text", variant(), result) for _ in range(rng.randint(5, 10))]


def asked_again_in_other_words(rng: Random) -> Events:
    """A rephrased question with the same long answer each time."""
    subject = f"{token(rng, 7)} {token(rng, 8)} {rng.choice(CITIES)}"
    result = page(rng, 6)
    forms = (
        f"what is the {subject}",
        f"{subject}",
        f"the {subject}?",
        f"What's {subject}",
        f"tell me the {subject}",
        f"{subject} please",
    )
    return [
        looped("ask", {"question": rng.choice(forms)}, result) for _ in range(rng.randint(4, 8))
    ]


def idle_parameters(rng: Random) -> Events:
    """The same call except for irrelevant arguments: an attempt number, a request id, a reason."""
    tool, arguments, result = failing_call(rng)
    extra = rng.choice(("attempt", "request_id", "explanation"))
    made = []
    for number in range(rng.randint(4, 9)):
        value = {
            "attempt": number + 1,
            "request_id": f"{rng.getrandbits(64):016x}",
            "explanation": sentence(rng, 6),
        }[extra]
        made.append(looped(tool, {**arguments, extra: value}, result))
    return made


def one_page_for_other_reasons(rng: Random) -> Events:
    """One page that is fetched again and again, each time for another reason."""
    key, shown = rng.choice(("reason", "intent", "purpose")), page(rng)
    url = f"https://{token(rng)}.example/{rng.choice(NOUNS)}"
    return [
        looped("fetch", {"url": url, key: sentence(rng, 7)}, shown)
        for _ in range(rng.randint(4, 8))
    ]


def alternation(rng: Random) -> Events:
    one, other = _call_once(rng), failing_call(rng)
    rounds = rng.randint(3, 6)
    return [looped(*call) for _ in range(rounds) for call in (one, other)]


def long_cycle(rng: Random) -> Events:
    calls = [_call_once(rng) for _ in range(rng.randint(3, 10))]
    return [looped(*call) for _ in range(rng.randint(3, 5)) for call in calls]


def _noisy(rng: Random, kind: int, base: list[str]) -> Any:
    stamp = f"2025-03-{rng.randint(10, 28)}T{rng.randint(10, 23)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}Z"
    unique = f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}-4{rng.getrandbits(12):03x}-a{rng.getrandbits(12):03x}-{rng.getrandbits(48):012x}"
    if kind == 0:
        return {"status": "pending", "items": base, "checked_at": stamp, "request_id": unique}
    if kind == 1:
        return f"[{stamp}] waiting for {base[0]}: not ready yet (took {rng.random() * 3:.2f}s)"
    if kind == 2:
        mixed = rng.sample(base, len(base))
        return {"results": mixed, "total": len(base)}
    if kind == 3:
        return f"Error: upstream timed out (request {unique}, after {rng.randint(900, 5000)} ms)"
    if kind == 4:
        return f"host {base[0]} at 0x{rng.getrandbits(48):012x} pid {rng.randint(300, 9000)}: no change since last check"
    return {"data": base, "meta": {"elapsed_ms": rng.randint(3, 900), "trace_id": unique[:8]}}


def noisy_results(rng: Random) -> Events:
    """The same call, with results that differ only in times, ids, durations or order."""
    call = one_call(rng)
    base, kind = [token(rng, 7) for _ in range(6)], rng.randrange(6)
    return [
        looped(call.tool, call.arguments, _noisy(rng, kind, base)) for _ in range(rng.randint(4, 9))
    ]


def noisy_cycle(rng: Random) -> Events:
    one, other = one_call(rng), one_call(rng)
    base, kind = [token(rng, 7) for _ in range(6)], rng.randrange(6)
    made = []
    for _ in range(rng.randint(3, 6)):
        made.append(looped(one.tool, one.arguments, _noisy(rng, kind, base)))
        made.append(looped(other.tool, other.arguments, other.result))
    return made


def failing_in_turn(rng: Random) -> Events:
    """Two or three failing calls, repeated in random order, with few useful calls in between."""
    calls = [failing_call(rng) for _ in range(rng.choice((2, 2, 3)))]
    order = [call for _ in range(rng.randint(4, 6)) for call in calls] + [calls[0]] * 4
    rng.shuffle(order)
    made: Events = [looped(*call) for call in order]
    for place in rng.sample(range(3, 10), rng.randint(0, 2)):
        made.insert(place, one_call(rng))
    return made


def failing_between_looks(rng: Random) -> Events:
    """One failing call, with only reads between the attempts."""
    call = failing_call(rng)
    made: Events = []
    for _ in range(rng.randint(5, 8)):
        made.append(looped(*call))
        for _ in range(rng.randint(1, 2)):
            look = rng.choice(("read_file", "list_folder"))
            made.append(Call(look, {"path": path(rng)}, code(rng, 8)))
    while isinstance(made[-1], Call) and not made[-1].loop:
        made.pop()
    return made


def pondering_between_failures(rng: Random) -> Events:
    """A failing call alternating with nearly the same thought."""
    call = failing_call(rng)
    thought = f"I need to make sure that the {rng.choice(NOUNS)} is right before I try the call {token(rng)} again"
    made: Events = []
    for _ in range(rng.randint(4, 7)):
        made.append(looped(*call))
        ending = rng.choice(("", ".", " now", " then"))
        made.append(looped("think", {"thought": thought + ending}, ""))
    return made


def parallel_repeats(rng: Random) -> Events:
    call = _call_once(rng)
    made = [looped(*call) for _ in range(rng.randint(4, 7))]
    for each in made[1:]:
        each.together = True
    return list(made)


def repeated_batches(rng: Random) -> Events:
    """The same few calls in every message."""
    calls = [_call_once(rng) for _ in range(rng.randint(2, 3))]
    made: Events = []
    for _ in range(rng.randint(3, 5)):
        for place, call in enumerate(calls):
            each = looped(*call)
            each.together = place > 0
            made.append(each)
    return made


def repeated_text(rng: Random) -> Events:
    text = rng.choice((*TEXTS, sentence(rng, 25)))
    return [Say(text, loop=True) for _ in range(rng.randint(4, 9))]


def repeated_text_in_conversation(rng: Random) -> Events:
    text = rng.choice((*TEXTS[:5], sentence(rng, 25)))
    made: Events = []
    replies = rng.sample(REPLIES, 6) if rng.random() < 0.5 else [rng.choice(REPLIES)] * 6
    for reply in replies[: rng.randint(4, 6)]:
        made += [Say(text, loop=True), User(reply)]
    return made


def near_identical_text(rng: Random) -> Events:
    """A text that is reworded only slightly each time."""
    text = rng.choice((*TEXTS[1:5], sentence(rng, 30)))
    made: Events = []
    for _ in range(rng.randint(5, 9)):
        said = rng.choice(
            (
                text,
                text + " Thank you.",
                text.replace(" the ", " this ", 1),
                text.upper(),
                "Well. " + text,
            )
        )
        made.append(Say(said, loop=True))
        if rng.random() < 0.3:
            made.append(User(rng.choice(REPLIES)))
    return made


def text_in_turn(rng: Random) -> Events:
    """Two or three alternating texts."""
    texts = rng.sample((*TEXTS, sentence(rng, 20), sentence(rng, 12)), rng.choice((2, 2, 3)))
    reply = rng.random() < 0.4
    made: Events = []
    for _ in range(rng.randint(3, 5)):
        for text in texts:
            made.append(Say(text, loop=True))
            if reply:
                made.append(User(rng.choice(REPLIES)))
    return made


def farewells(rng: Random) -> Events:
    texts = ("You're welcome! Have a great day!", "Thank you! Goodbye!")
    made: Events = []
    for place in range(rng.randint(6, 9)):
        text = texts[rng.randrange(2)] if place > 1 else texts[place]
        made += [Say(text, loop=True), User(rng.choice(("Thanks!", "Bye!", "You too!")))]
    return made


def change_made_again(rng: Random) -> Events:
    """The same lines are appended, the same letter is sent, or the same thing is booked, each time with success."""
    count, kind = rng.randint(10, 15), rng.randrange(3)
    if kind == 0:
        where, lines = path(rng), rng.randint(20, 90)
        return [
            looped("append", {"path": where, "text": text}, f"{where} has {lines + 4 * at} lines.")
            for text in [code(rng, 9)]
            for at in range(count)
        ]
    if kind == 1:
        letter = {"to": f"{token(rng)}@example.org", "body": sentence(rng, 40)}
        return [looped("send", letter, f"sent as {token(rng, 12)}") for _ in range(count)]
    trip = {
        "from": rng.choice(CITIES),
        "to": rng.choice(CITIES),
        "passengers": [{"name": f"{token(rng)} {token(rng, 9)}", "born": "1990-02-03"}] * 2,
        "paid_by": f"card_{rng.randint(1000, 9999)}",
    }
    first = rng.randint(1000, 5000)
    return [looped("book", trip, {"booking": f"B{first + at}"}) for at in range(count)]


LOOPS: dict[str, Family] = {
    family.__name__: family
    for family in (
        exact_repeat,
        failing_repeat,
        unchanged_polling,
        reworded_arguments,
        near_identical_edits,
        asked_again_in_other_words,
        idle_parameters,
        one_page_for_other_reasons,
        alternation,
        long_cycle,
        noisy_results,
        noisy_cycle,
        failing_in_turn,
        failing_between_looks,
        pondering_between_failures,
        parallel_repeats,
        repeated_batches,
        repeated_text,
        repeated_text_in_conversation,
        near_identical_text,
        text_in_turn,
        farewells,
        change_made_again,
    )
}


#: Forms in which a family is indistinguishable from legitimate work: command lines have no parameter names.
NOT_IN = {"idle_parameters": {"bash"}, "one_page_for_other_reasons": {"bash"}}


def stuck(family: Family, rng: Random) -> Events:
    """Return a run that starts with legitimate work, then loops, and may recover."""
    after = work(rng, 0, 4) if rng.random() < 0.5 else []
    return [*work(rng, 0, 6), *family(rng), *after]
