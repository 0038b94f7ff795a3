"""Families of runs with legitimate repeats, each in many variants."""

from __future__ import annotations

from random import Random

from support.synthetic_traces import Call, Events, Family, Say, User
from support.synthetic_vocabulary import (
    CITIES,
    CODE,
    FRUITS,
    NOUNS,
    PEOPLE,
    code,
    failing_call,
    one_call,
    page,
    path,
    record,
    sentence,
    token,
    work,
)

SAVED = (
    "The file has been updated successfully. The change was written to disk, and the former content was kept "
    "in the history. Go on with the next step of the plan where there is one."
)


def pages(rng: Random) -> Events:
    key, query = rng.choice(("page", "offset", "start")), sentence(rng, 3)
    size = 1 if key == "page" else rng.choice((10, 50))
    return [
        Call("search", {"query": query, key: number * size, "limit": size}, page(rng))
        for number in range(rng.randint(4, 12))
    ]


def cursors(rng: Random) -> Events:
    made: Events = []
    cursor = None
    for _ in range(rng.randint(4, 10)):
        following = token(rng, 12)
        arguments = {"folder": "inbox"} | ({"cursor": cursor} if cursor else {})
        made.append(Call("list_messages", arguments, {"rows": page(rng), "next": following}))
        cursor = following
    return made


def empty_pages_at_the_end(rng: Random) -> Events:
    return [
        Call("list_rows", {"table": "sales", "page": number}, page(rng) if number < 3 else "[]")
        for number in range(rng.randint(6, 9))
    ]


def lines_of_a_file(rng: Random) -> Events:
    where, step = path(rng), rng.choice((40, 100))
    return [
        Call("run", {"command": f"sed -n '{at + 1},{at + step}p' {where}"}, code(rng, 8))
        for at in range(0, step * rng.randint(4, 9), step)
    ]


def lookups_of_items(rng: Random) -> Events:
    items = rng.choice((CITIES, FRUITS, PEOPLE))
    tool, key = rng.choice((("get_weather", "place"), ("nutrition", "food"), ("find", "name")))
    return [Call(tool, {key: item, "unit": "metric"}, record(rng)) for item in items]


def lookups_by_number(rng: Random) -> Events:
    first, kind = rng.randint(100, 900), rng.choice(NOUNS)
    return [
        Call(f"get_{kind}", {"id": f"{kind[:3].upper()}-{first + at}"}, record(rng))
        for at in range(rng.randint(5, 12))
    ]


def lookups_that_find_nothing(rng: Random) -> Events:
    result = rng.choice(("[]", "No results found.", "Error: not found", '{"error": "not found"}'))
    items = rng.choice((CITIES, FRUITS, PEOPLE))
    return [Call("find", {"name": item, "limit": 5}, result) for item in items]


def lookups_that_find_nothing_by_number(rng: Random) -> Events:
    return [
        Call(
            "search_flight", {"origin": "JFK", "destination": "SFO", "date": f"2024-05-{day}"}, "[]"
        )
        for day in range(11, 11 + rng.randint(5, 12))
    ]


def files_in_turn(rng: Random) -> Events:
    folder = f"data/{token(rng)}/{token(rng)}"
    names = [f"part_{letter}" for letter in "abcdefghij"[: rng.randint(5, 10)]]
    return [Call("read_file", {"path": f"{folder}/{name}.csv"}, page(rng)) for name in names]


def files_that_fail(rng: Random) -> Events:
    folder = f"data/{token(rng)}/a/rather/deep/folder/of/files/for/this/task"
    names = rng.sample(FRUITS, 6)
    return [
        Call("read_file", {"path": f"{folder}/{name}.csv"}, "Error: permission denied", error=True)
        for name in names
    ]


def letters_to_people(rng: Random) -> Events:
    body = sentence(rng, 60)
    result = rng.choice(
        ("sent", "Message was queued for delivery and will be sent within the hour. " * 2)
    )
    return [
        Call("send_mail", {"subject": "Invitation", "body": f"Dear {name}, {body}"}, result)
        for name in PEOPLE
    ]


def letters_that_fail(rng: Random) -> Events:
    body = sentence(rng, 60)
    return [
        Call("send_mail", {"to": name, "body": f"Dear {name}, {body}"}, "Error: mailbox is full")
        for name in PEOPLE
    ]


def edit_and_rerun(rng: Random) -> Events:
    where, made = path(rng), []
    test = Call("run", {"command": f"pytest tests/test_{token(rng, 4)}.py -x"}, "")
    failure = f"FAILED {token(rng)} - AssertionError: {sentence(rng, 6)}"
    done = rng.choice(("Edit applied.", SAVED))
    for _ in range(rng.randint(4, 8)):
        edit = {"path": where, "old": rng.choice(CODE), "new": code(rng, rng.randint(1, 4))}
        made.append(Call("edit_file", edit, done))
        made.append(Call(test.tool, test.arguments, failure))
    return made


def rewrite_and_rerun(rng: Random) -> Events:
    where, made = path(rng), []
    lines = [rng.choice(CODE) for _ in range(20)]
    failure = "Traceback (most recent call last):\n  File 'main.py', line 3\nValueError: bad total"
    for _ in range(rng.randint(4, 7)):
        lines[rng.randrange(20)] = f"{rng.choice(CODE)}  # {token(rng)}"
        made.append(Call("write_file", {"path": where, "content": "\n".join(lines)}, SAVED))
        made.append(Call("run", {"command": f"python {where}"}, failure))
    return made


def look_then_edit(rng: Random) -> Events:
    """Different failing edits of one file, with reads of the file in between."""
    where, made = path(rng), []
    for at in range(rng.randint(4, 7)):
        made.append(Call("view", {"path": where, "range": [at * 20, at * 20 + 30]}, code(rng, 8)))
        edit = {"path": where, "old": code(rng, 3), "new": code(rng, 4)}
        made.append(Call("replace_text", edit, "Error: old text not found."))
    return made


def polling_percent(rng: Random) -> Events:
    job, at, made = token(rng), 0, []
    shape = rng.randrange(3)
    for _ in range(rng.randint(5, 10)):
        at = min(100, at + rng.randint(3, 18))
        result = (
            {"job": job, "status": "running", "progress": at},
            f"Job {job} is still running: {at}% of the work is done, please wait for it to finish.",
            {
                "status": "running",
                "rows_done": at * 11,
                "rows": 1100,
                "queue": "main",
                "worker": "w1",
            },
        )[shape]
        made.append(Call("get_status", {"job": job}, result))
    return made


def polling_states(rng: Random) -> Events:
    states = ["queued", "starting", "running", "finishing", "done"]
    job = token(rng)
    return [
        Call(
            "get_status",
            {"job": job},
            {"job": job, "status": state, "owner": "me", "kind": "build"},
        )
        for state in states
        for _ in range(rng.randint(1, 3))
    ]


def polling_with_waits(rng: Random) -> Events:
    job, made = token(rng), []
    for at in range(rng.randint(4, 8)):
        made.append(Call("wait", {"seconds": 5}, "Waited."))
        made.append(Call("get_status", {"job": job}, f"step {at + 1} of 12: {sentence(rng, 4)}"))
    return made


def growing_log(rng: Random) -> Events:
    lines, made = [sentence(rng, 6) for _ in range(5)], []
    for _ in range(rng.randint(4, 8)):
        lines.append(sentence(rng, rng.randint(3, 9)))
        made.append(Call("read_log", {"name": "build"}, "\n".join(lines)))
    return made


def moving_log(rng: Random) -> Events:
    lines, made = [sentence(rng, 6) for _ in range(30)], []
    for _ in range(rng.randint(4, 8)):
        lines = [*lines[1:], f"{token(rng)} {sentence(rng, 5)}"]
        made.append(Call("read_output", {"handle": "h1"}, "\n".join(lines)))
    return made


def countdown(rng: Random) -> Events:
    left, made = rng.randint(60, 90), []
    for _ in range(rng.randint(4, 8)):
        left -= rng.randint(2, 9)
        made.append(Call("queue_position", {"ticket": "T"}, {"position": left, "state": "waiting"}))
    return made


def other_parameters(rng: Random) -> Events:
    tool, arguments, result = failing_call(rng)
    key = rng.choice(("timeout", "depth", "limit", "size"))
    return [Call(tool, {**arguments, key: 5 * 2**at}, result) for at in range(rng.randint(4, 7))]


def other_modes(rng: Random) -> Events:
    tool, arguments, result = failing_call(rng)
    modes = rng.sample(
        ("fast", "safe", "full", "quick", "deep", "lazy", "strict"), rng.randint(4, 7)
    )
    return [Call(tool, {**arguments, "mode": mode}, result) for mode in modes]


def backing_off(rng: Random) -> Events:
    tool, arguments, _ = failing_call(rng)
    made: Events = []
    for at in range(rng.randint(3, 5)):
        made.append(Call(tool, arguments, "Error 429: too many requests"))
        made.append(Call("wait", {"seconds": 2**at}, f"Waited {2**at} s."))
    return [*made, Call(tool, arguments, page(rng))]


def retried_until_it_works(rng: Random) -> Events:
    tool, arguments, result = failing_call(rng)
    failures = rng.randint(1, 3)
    return [*[Call(tool, arguments, result)] * failures, Call(tool, arguments, page(rng))]


def coming_back_to_a_file(rng: Random) -> Events:
    look = Call("read_file", {"path": path(rng)}, code(rng, 10))
    made: Events = []
    for _ in range(rng.randint(4, 6)):
        made += [look, *work(rng, 2, 4)]
    return made


def listing_after_each_write(rng: Random) -> Events:
    names: list[str] = []
    made: Events = []
    for _ in range(rng.randint(4, 8)):
        names.append(token(rng))
        made.append(
            Call("write_file", {"path": f"out/{names[-1]}", "content": code(rng)}, "File written.")
        )
        made.append(Call("list_folder", {"path": "out"}, "\n".join(names)))
    return made


def checking_after_each_change(rng: Random) -> Events:
    """A check with the same result each time, after a different change each time."""
    made: Events = []
    check = Call("run", {"command": "make lint"}, rng.choice(("", "All checks passed.", "ok")))
    for _ in range(rng.randint(4, 9)):
        edit = {"path": path(rng), "old": rng.choice(CODE), "new": code(rng, 2)}
        made += [Call("edit_file", edit, "Edit applied."), check]
    return made


def folders_in_turn(rng: Random) -> Events:
    where, made = "src", []
    for _ in range(rng.randint(5, 9)):
        made.append(Call("list_folder", {"path": where}, "\n".join(token(rng) for _ in range(4))))
        where += f"/{token(rng, 3)}"
    return made


def cells_of_a_sheet(rng: Random) -> Events:
    column = rng.choice("ABCD")
    return [
        Call("set_cell", {"cell": f"{column}{row}", "value": rng.choice((0, 1, 1))}, "ok")
        for row in range(1, rng.randint(6, 14))
    ]


def sums_in_turn(rng: Random) -> Events:
    made: Events = []
    for _ in range(rng.randint(4, 9)):
        one, other = rng.randint(1, 900), rng.randint(1, 900)
        made.append(Call("calculate", {"expression": f"{one} + {other}"}, str(one + other)))
    return made


def narrowing_a_search(rng: Random) -> Events:
    """A search that found too much gets another word, and one that found nothing a word less."""
    words = [token(rng, 7) for _ in range(rng.randint(4, 7))]
    is_empty = rng.random() < 0.5
    lengths = range(len(words), 0, -1) if is_empty else range(1, len(words) + 1)
    return [
        Call(
            "search",
            {"query": " ".join(words[:length])},
            "No results found." if is_empty else page(rng),
        )
        for length in lengths
    ]


def asked_by_the_user(rng: Random) -> Events:
    """The same call for repeated user requests in different words."""
    call, made = one_call(rng), []
    for _ in range(rng.randint(4, 6)):
        made += [User(sentence(rng, 8)), call, Say(sentence(rng, 12))]
    return made


def confirmed_by_the_user(rng: Random) -> Events:
    made: Events = []
    for item in rng.sample(FRUITS, rng.randint(4, 7)):
        made += [
            Say(f"Shall I order {rng.randint(2, 90)} pieces of {item} for you now?"),
            User("yes"),
            Call("order", {"item": item, "pieces": rng.randint(2, 90)}, "ordered"),
        ]
    return made


def same_closing_words(rng: Random) -> Events:
    """Different work for the user each time, with the same closing words."""
    made: Events = []
    for _ in range(rng.randint(4, 6)):
        made += [User(sentence(rng, 9)), *work(rng, 1, 2)]
        made.append(Say("Done. Is there anything else that I can do for you today?"))
    return made


def scrolling(rng: Random) -> Events:
    tool, arguments = rng.choice(
        (("scroll", {"direction": "down"}), ("page_down", {}), ("click", {"element": "Load more"}))
    )
    return [Call(tool, arguments, page(rng, 6)) for _ in range(rng.randint(4, 9))]


def next_button(rng: Random) -> Events:
    """Clicks of one button, with pages that differ only in their rows."""
    frame = sentence(rng, 150)
    return [
        Call("click", {"element": "Next"}, f"{frame}\n{page(rng, 3)}\n{frame}")
        for _ in range(rng.randint(4, 8))
    ]


def filling_a_form(rng: Random) -> Events:
    fields = ("first name", "last name", "street", "city", "zip code", "phone", "mail")
    return [Call("type_text", {"field": name, "text": token(rng)}, "ok") for name in fields]


def working_through_a_list(rng: Random) -> Events:
    """Plans updated as work progresses; the tool's answer is always the same."""
    tasks = [sentence(rng, 5) for _ in range(6)]
    made: Events = []
    for at in range(6):
        states = ["done"] * at + ["doing"] + ["open"] * (5 - at)
        plan = [{"task": task, "state": state} for task, state in zip(tasks, states, strict=True)]
        made += [Call("write_plan", {"plan": plan}, SAVED), *work(rng, 0, 2)]
    return made


def thinking_ahead(rng: Random) -> Events:
    return [
        call
        for _ in range(rng.randint(4, 7))
        for call in (Call("think", {"thought": sentence(rng, 25)}, ""), one_call(rng))
    ]


def dice(rng: Random) -> Events:
    return [Call("roll_dice", {"sides": 20}, str(rng.randint(1, 20))) for _ in range(3)] + [
        Call("draw_card", {}, f"{rng.choice(FRUITS)} of {token(rng)}") for _ in range(5)
    ]


def walking(rng: Random) -> Events:
    return [
        Call(
            "move",
            {"direction": rng.choice("NSEW")},
            f"You are in the {token(rng)}. {sentence(rng, 7)}",
        )
        for _ in range(rng.randint(6, 14))
    ]


def boards_of_known_rows(rng: Random) -> Events:
    """A puzzle whose rows were all seen before, in arrangements that were not."""
    rows = ["| x . . |", "| . x . |", "| . . x |", "| x x . |", "| . x x |", "| x . x |"]
    boards = sorted({tuple(rng.sample(rows, 5)) for _ in range(rng.randint(20, 40))})
    return [
        Call("push", {"box": number % 4 + 1}, "\n".join(board))
        for number, board in enumerate(boards)
    ]


def back_through_known_rooms(rng: Random) -> Events:
    """A walk through rooms by doors with names, and the way back."""
    rooms = ["\n".join((f"The {token(rng)}", page(rng, 3))) for _ in range(rng.randint(12, 16))]
    doors = [token(rng, 9) for _ in rooms]
    there = [Call("pass", {"door": door}, room) for door, room in zip(doors, rooms, strict=True)]
    back = zip(doors[:0:-1], rooms[-2::-1], strict=True)
    return [*there, *(Call("pass", {"door": door}, room) for door, room in back)]


def settings_switched_one_by_one(rng: Random) -> Events:
    """A screen of switches, of which each press turns another one on or off."""
    names = rng.sample(FRUITS, 6)
    state = dict.fromkeys(names, "off")
    made: Events = []
    for number in range(2 ** rng.randint(3, 4)):
        name = names[(number & -number).bit_length() - 1] if number else names[-1]
        state[name] = "on" if state[name] == "off" else "off"
        lines = "\n".join(f"{each}: {value}" for each, value in state.items())
        made.append(Call("press", {"switch": name}, lines))
    return made


def queries_that_fail(rng: Random) -> Events:
    words = rng.sample(FRUITS, 5)
    return [
        Call(
            "query",
            {"sql": f"SELECT name, price FROM {word} WHERE price > 3 ORDER BY name"},
            f"Error: no such table: {word}",
        )
        for word in words
    ]


def get_and_update(rng: Random) -> Events:
    made: Events = []
    for item in rng.sample(NOUNS, 6):
        made.append(Call("get_item", {"name": item}, record(rng)))
        made.append(Call("update_item", {"name": item, "state": "closed"}, "updated"))
    return made


def many_at_once(rng: Random) -> Events:
    calls = [Call("get_weather", {"city": city}, record(rng), together=True) for city in CITIES[:6]]
    calls[0].together = False
    return list(calls)


def reading_aloud(rng: Random) -> Events:
    """An agent without tools that works through a list."""
    item = rng.choice(("sentence", "chapter", "record"))
    frame = sentence(rng, 14)
    return [
        Say(f"{frame}. Now comes the {item} about {name}. {frame}")
        for name in rng.sample(FRUITS, rng.randint(4, 8))
    ]


def numbered_reports(rng: Random) -> Events:
    frame = sentence(rng, 20)
    return [Say(f"Item {at} of 9 was handled. {frame}") for at in range(1, rng.randint(5, 9))]


def chapters_on_request(rng: Random) -> Events:
    """A long text that is written part by part, each after the same prompt to go on, with two closing remarks at the end."""
    made: Events = []
    for number in range(1, rng.randint(5, 9)):
        text = f"Chapter {number} is done: {sentence(rng, 40)}. Let me know if I should go on."
        made += [Say(text), User("Please continue.")]
    said = ("This concludes our work on the book.", "There are no further chapters. Good luck!")
    for text in said:
        made += [Say(f"{sentence(rng, 9)}. {text}"), User("Please continue.")]
    return made


def lines_appended(rng: Random) -> Events:
    """A file to which other lines are appended each time."""
    where = path(rng)
    return [
        Call("append", {"path": where, "text": f"{sentence(rng, 30)} {token(rng)}"}, f"{where} has {at} lines.")
        for at in range(1, rng.randint(10, 20))
    ]  # fmt: skip


def searches_that_find_known_places(rng: Random) -> Events:
    """Searches for other words in changing forms, which are all found in one of two files."""
    folder, places = f"src/{token(rng)}", [f"{path(rng)}\n" for _ in range(2)]
    forms = ("grep -rl {} {}", "rg -l {} {} | sort", "find {1} -type f | xargs grep -l {0}")
    return [
        Call(
            "run", {"command": rng.choice(forms).format(token(rng, 7), folder)}, rng.choice(places)
        )
        for _ in range(rng.randint(9, 14))
    ]


def reasons_that_select(rng: Random) -> Events:
    """A list of complaints by their reason, of which some have none, and pages that are each read for a reason."""
    made: Events = [
        Call("list_complaints", {"reason": f"{sentence(rng, 3)} {fruit}"}, "[]")
        for fruit in rng.sample(FRUITS, 6)
    ]
    for _ in range(rng.randint(5, 8)):
        reason = sentence(rng, 6)
        made.append(Call("fetch", {"url": f"{token(rng)}.example", "reason": reason}, page(rng)))
    return made


def equal_things_created(rng: Random) -> Events:
    """Several servers of one size, or copies of one thing in a basket."""
    tool, given = rng.choice(
        (("create", {"size": "large", "zone": "north"}), ("add_to_cart", {"product": token(rng)}))
    )
    return [
        Call(tool, given, {"id": token(rng, 12), "count": at}) for at in range(rng.randint(5, 12))
    ]


def equal_lines_in_several_files(rng: Random) -> Events:
    """One licence that is added to each of several files, and read back."""
    text = sentence(rng, 40)
    made: Events = []
    for _ in range(rng.randint(9, 14)):
        where = path(rng)
        made.append(Call("insert", {"path": where, "line": 0, "text": text}, "Inserted."))
        made.append(Call("read_file", {"path": where}, f"{text}\n{code(rng, 8)}"))
    return made


def answers(rng: Random) -> Events:
    made: Events = []
    for _ in range(rng.randint(4, 9)):
        made += [User(sentence(rng, 10)), Say(sentence(rng, 30))]
    return made


HONEST: dict[str, Family] = {
    name: family
    for name, family in list(globals().items())
    if callable(family) and getattr(family, "__module__", "") == __name__
}


def busy(family: Family, rng: Random) -> Events:
    """Return a run of legitimate work that includes the family's pattern."""
    return [*work(rng, 0, 6), *family(rng), *work(rng, 0, 6)]
