"""One change that is made again and again, although it succeeds: a loop if it has long content."""

from __future__ import annotations

from time import process_time

import pytest

from weighbridge.graders.loop import LoopGrader

CLASS = "class Ferry:\n" + "\n".join(
    f"    def deck_{at}(self):\n        return {at}" for at in range(4)
)
TRIP = {
    "from": "Harbour North",
    "to": "The island",
    "passengers": [{"name": "Ida Mole", "born": "1990-02-03"}, {"name": "Ole Mole", "born": "1988-11-30"}],
    "paid_by": "gift card 7731",
}  # fmt: skip
NAMES = ("rudder", "anchor", "mast", "keel", "galley", "winch", "buoy", "bell", "chart", "lamp")


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def shown(lines):
    """Return a file as an editor shows it, with the class at its end as often as it was inserted."""
    return f"[ferry.py, {lines} lines]\n" + "\n".join(f"{at}: ..." for at in range(lines))


def edits(count, command=f"edit 44:54\n{CLASS}\nend_of_edit"):
    return [call("bash", {"command": command}, shown(60 + 9 * at)) for at in range(count)]


def test_the_same_edit_five_times_is_a_loop_although_the_file_grows():
    assert kinds(edits(5)) == [("nothing_new", 5)]
    assert kinds(edits(4)) == []
    assert kinds(edits(4), max_repeats=2) == [("nothing_new", 4)]


def test_fewer_than_half_as_many_other_changes_may_lie_between():
    other = call("bash", {"command": f"edit 12:12\n# {CLASS[:200]}\nend_of_edit"}, shown(70))
    assert kinds([*edits(4), other, *edits(3)]) == [("nothing_new", 7)]
    assert kinds([*edits(3), other, *edits(1)]) == []
    new = [call("bash", {"command": f"edit 9:9\n# {CLASS}{name}\nend_of_edit"}, shown(70)) for name in NAMES]  # fmt: skip
    assert kinds([step for pair in zip(edits(10), new, strict=True) for step in pair]) == []


def rewritten(count, content="{text}\n# {name}", name="write_file", path="ferry.py"):
    """Return calls that write a long text, each with another word in it."""
    text = " ".join(f"deck_{at}" for at in range(40))
    return [
        call(name, {"path": path.format(at=at), "content": content.format(text=text, name=NAMES[at])}, f"done, {at * 7919:x}")
        for at in range(count)
    ]  # fmt: skip


def test_a_file_that_is_written_nine_times_with_nearly_the_same_content_is_a_loop():
    assert kinds(rewritten(9)) == [("nothing_new", 9)]
    assert kinds(rewritten(8)) == []


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(rewritten(10, name="append_to_file"), id="appended"),
        pytest.param(rewritten(10, path="ferry_{at}.py"), id="other files"),
        pytest.param(rewritten(10, content="{text} {name} {name}1 {name}2 {name}3 {name}4"), id="other content"),
        pytest.param(rewritten(10, content="# {name}"), id="short content"),
        pytest.param([call("save_record", {"collection": "ferries", "content": write["arguments"]["content"]}, write["output"])
                      for write in rewritten(10)], id="records of one form"),
        pytest.param([step for write in rewritten(10) for step in (write, call("run_tests", {}, write["output"]))],
                     id="tested after each"),
    ],
)  # fmt: skip
def test_what_is_written_for_another_thing_or_tested_is_no_loop(steps):
    assert kinds(steps) == []


@pytest.mark.parametrize(
    "again",
    [
        lambda at: call("book_trip", TRIP, {"booking": f"B-{7001 + at}", "state": "booked"}),
        lambda at: call("send_mail", {"to": "ida@example.org", "body": CLASS}, f"sent, {at + 1} in the outbox"),
        lambda at: call("bash", {"command": f"cat >> ferry.py <<'END'\n{CLASS}\nEND\nwc -l ferry.py"}, str(60 + 9 * at)),
    ],
    ids=["booked", "sent", "appended"],
)  # fmt: skip
def test_what_is_booked_sent_or_appended_five_times_is_a_loop_whatever_its_number(again):
    assert kinds([again(at) for at in range(5)]) == [("nothing_new", 5)]
    assert kinds([again(at) for at in range(4)]) == []
    looks = [
        step
        for at in range(5)
        for step in (again(at), call("read_file", {"path": f"{NAMES[at]}.md"}, f"about the {NAMES[at]}"))
    ]  # fmt: skip
    assert kinds(looks) == [("nothing_new", 5)]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([call("append", {"path": "a.md", "text": f"{CLASS}\n# {name}"}, f"{at} lines")
                      for at, name in enumerate(NAMES)], id="other content"),
        pytest.param([call("insert", {"path": f"{name}.py", "text": CLASS}, f"{at} lines")
                      for at, name in enumerate(NAMES)], id="other files"),
        pytest.param([call("create_server", {"size": "large", "zone": "north"}, {"id": f"srv-{at}"})
                      for at in range(12)], id="short arguments"),
        pytest.param([call("run_code", {"code": f"{CLASS}\nprint(Ferry().load())"}, f"{at * 7 % 5} boxes, {name}")
                      for at, name in enumerate(NAMES)], id="code that is run again"),
        pytest.param([step for at, edit in enumerate(edits(10))
                      for step in (edit, call("bash", {"command": f"git checkout {NAMES[at]}"}, f"on {NAMES[at]}"))],
                     id="changes between"),
        pytest.param([step for at, edit in enumerate(edits(10))
                      for step in ([edit] if at % 4 else [{"type": "user", "output": f"Once more for the {NAMES[at]} of the ferry, at its {NAMES[9 - at]}"}, edit])],
                     id="a new request between"),
    ],
)  # fmt: skip
def test_changes_that_differ_or_follow_something_else_are_no_loop(steps):
    assert kinds(steps) == []


def test_an_equal_note_is_a_loop_however_short():
    notes = [
        call("save_note", {"text": "Fee: 12 euro"}, f"saved as n_{at * 7919:x}9") for at in range(6)
    ]
    assert kinds(notes) == [("nothing_new", 6)]
    assert kinds(notes[:4]) == []
    others = [
        call("add_card", {"text": "Fee: 12 euro"}, f"added as n_{at * 7919:x}9") for at in range(9)
    ]
    assert kinds(others) == []


def test_notes_of_which_the_trace_has_only_a_label_are_no_loop():
    lists = [
        call("todo_write", {"summary": "Todo List"}, "\n".join(f"- [{'x' if at < done else ' '}] {name}" for at, name in enumerate(NAMES)))
        for done in range(9)
    ]  # fmt: skip
    assert kinds(lists) == []


REFUND = {"order_id": "ORD-10018", "amount_cents": 1000, "reason": "late"}
MAIL = {"to": "ann@example.org", "body": "Come on Friday"}
ACTS = [
    ("issue_refund", REFUND, '{{"refund": "RF-{number}", "ok": true}}'),
    ("issue_refund", REFUND, '{{"id": "re_{mark}c", "status": "succeeded"}}'),
    ("payments.makePayment", {"invoice": "I-7"}, "paid, receipt {mark}"),
    ("transfer_money", {"iban": "DE02", "amountEur": 10}, "done as T{number}"),
    ("charge_card", {"card": 7, "total": 12}, '{{"charge": "{number}-{mark}"}}'),
    ("send_mail", MAIL, "queued as {number}"),
    ("notifyCustomer", {"customerId": 4, "text": "Late"}, "{mark} is on its way"),
    ("slack_post_message", {"channel": "pier", "text": "Late"}, '{{"ts": 7, "message": {number}}}'),
]


def acts(count, name="issue_refund", arguments=REFUND, told=ACTS[0][2]):
    return [
        call(name, arguments, told.format(number=1000 + 7 * at, mark=f"{at * 7919 + 77:x}a"))
        for at in range(count)
    ]


def said(text):
    return {"type": "user", "output": text}


@pytest.mark.parametrize(("name", "arguments", "told"), ACTS)
def test_a_payment_or_a_message_that_succeeds_again_with_a_new_id_is_a_loop(name, arguments, told):
    assert kinds([said("Please settle it."), *acts(5, name, arguments, told)])
    assert kinds([said("Please settle it."), *acts(4, name, arguments, told)]) == []
    assert kinds([said("Please settle it."), *acts(4, name, arguments, told)], max_repeats=2)


def test_reads_of_what_is_known_do_not_part_equal_payments():
    look = call("get_order", {"id": "ORD-10018"}, "late")
    assert kinds([look, *[step for act in acts(9) for step in (act, look)]])
    news = [call("get_order", {"id": name}, f"the {name} is late") for name in NAMES]
    assert kinds([step for pair in zip(acts(10), news, strict=True) for step in pair]) == []


@pytest.mark.parametrize(
    ("order", "count"),
    [
        ("Refund the order 9 times, 10 euro each.", 9),
        ("Pay it 12 times.", 12),
        ("The customer should get ten refunds.", 10),
    ],
)
def test_as_many_payments_as_the_user_orders_are_no_loop(order, count):
    named = {"name": "pay_refund"}
    assert kinds([said(order), *[step | named for step in acts(count)]]) == []
    assert kinds([said(order), *[step | named for step in acts(count + 1)]])


@pytest.mark.parametrize(
    "told",
    [
        '{{"paid": 50, "remaining_balance": {number}}}',
        '{{"paid": 50, "remainingBalance": {{"cents": {number}}}}}',
        '{{"id": "{mark}", "amountRemaining": {number}}}',
        '{{"id": "{mark}", "amount_due": {number}}}',
        "Paid in part, and {number} cents of the loan are outstanding.",
        "Paid 50. Left to pay: {number}.00 EUR",
        "Outstanding amount is Rs. {number}",
        "Received. Remaining balance on account 4411: ${number}",
        "Paid, remaining on invoice INV-77 is {number} EUR",
        '{{"remaining": {{"currency": "EUR", "cents": {number}}}}}',
        '{{"id": "{mark}", "installmentsLeft": {number}}}',
    ],
)
def test_payments_in_parts_whose_results_say_what_is_left_are_no_loop(told):
    assert kinds([said("Pay off my loan, 50 euro each."), *acts(10, told=told)]) == []


@pytest.mark.parametrize(
    "told",
    [
        '{{"id": "{mark}", "remaining_balance": 0}}',
        '{{"remaining": 450, "id": {number}}}',
        "Receipt {number}: 50 paid, 450 outstanding.",
        "Paid; 3 refunds are left today. Receipt {mark}",
        "Remaining balance on account 4411: $950. Receipt {number}",
        '{{"remaining": {{"currency": "EUR", "cents": 450}}, "id": {number}}}',
    ],
)
def test_payments_after_which_as_much_is_left_as_before_are_a_loop(told):
    assert kinds([said("Pay off my loan, 50 euro each."), *acts(9, told=told)])


def test_results_of_payments_without_a_number_are_compared_in_linear_time():
    began = process_time()
    assert kinds([call("issue_refund", REFUND, "-" * 590 + "x")] * 1_500)
    assert process_time() - began < 3


def test_a_payment_that_is_refused_in_the_end_was_a_loop_all_the_same():
    assert kinds([*acts(9), call("issue_refund", REFUND, "Everything was paid back.")])


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("payment_status", {"invoice": "I-7"}, "seen {number} by {mark}"),
        ("get_refund", {"id": 7}, "seen {number} by {mark}"),
        ("charge", {"robot": "r2"}, "the battery is at {number} of {mark}"),
        ("transfer_to_team", {"reason": "billing"}, "ticket {number}"),
        ("send_keys", {"keys": "Down"}, "row {number} of {mark}"),
        ("issue_refund", REFUND, "{mark:.3} {number} of {mark} rows\n" + "and so on " * 60),
    ],
)
def test_what_tells_of_payments_or_moves_something_else_is_no_payment(name, arguments, told):
    assert kinds(acts(10, name, arguments, told)) == []


def test_payments_that_differ_or_bring_an_answer_are_no_loop():
    assert kinds([call("pay", {"invoice": f"I-{at}"}, f"paid, P-{at}") for at in range(12)]) == []
    answers = [call("send_message", MAIL, f"Ann answers: the {name} is {at}") for at, name in enumerate(NAMES)]  # fmt: skip
    assert kinds(answers) == []
    parted = [
        step
        for act, name in zip(acts(10), NAMES, strict=True)
        for step in (act, said(f"And once more, please, for the {name}"))
    ]
    assert kinds(parted) == []
