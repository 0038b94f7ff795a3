"""Messages of an agent framework in the user's role: they are not new requests, and repeated rejections are a loop."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

NO_ACTION = "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."
NO_CALL = "<system-reminder>The LLM provided a response without any tool calls. Use 'task_done' to end.</system-reminder>"
EMPTY = "ERROR! Your patch is empty. Please provide a patch that fixes the problem."
SAYINGS = [
    "The fix is complete, and all tests pass.",
    "I have finished the work that was asked for.",
    "Everything is done; nothing else is left to change.",
    "This is my final answer: the cache is fixed now.",
    "The goal was reached with the last edit.",
    "My work is over, and the result is ready for review.",
    "All set. The issue is resolved.",
]


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def llm(text):
    return {"type": "llm", "output": text}


def user(text):
    return {"type": "user", "output": text}


EDIT = tool("edit", {"path": "a.py", "old": "x", "new": "x"}, "No changes were made to a.py.")


def kinds(steps, **config):
    given = [
        {"id": f"s{at}", **step} for at, step in enumerate([user("Fix the cache."), *steps], 1)
    ]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


@pytest.mark.parametrize(
    "message",
    [
        NO_ACTION,
        NO_CALL,
        "Your last response did not contain any tool call.",
        "I could not parse your action. Respond with valid JSON.",
        "No code block was found in your answer.",
    ],
)
def test_a_message_that_refuses_an_action_is_no_new_request(message):
    assert kinds([EDIT, EDIT, EDIT, llm("Hm."), user(message), EDIT]) == [("identical", 4)]


@pytest.mark.parametrize(
    "message",
    [
        "You have used {} of 40 turns. Continue with the next command.",
        "{} steps left.",
        "Observe the state of the page again, and act on what has changed there. " * 3
        + "Round {}.",
    ],
)
def test_nearly_the_same_message_of_a_frame_is_no_new_request(message):
    steps = [step for at in range(4) for step in (user(message.format(at)), EDIT)]
    assert kinds(steps) == [("identical", 4)]


def test_a_short_message_that_is_nearly_repeated_is_a_new_request():
    message = "Observe the state of the page again, and act on what has changed there. " * 3

    def of_length(count):
        return [step for at in range(4) for step in (user(message[: count - 1] + f"{at}"), EDIT)]

    assert kinds(of_length(200)) == [("identical", 4)]
    assert kinds(of_length(199)) == []


def test_a_users_own_message_is_a_new_request_however_alike():
    look = tool("track", {"parcels": "all"}, "Nothing was found.")
    steps = [step for at in range(5) for step in (user(f"Where is my parcel W{at}?"), look)]
    assert kinds(steps) == []


@pytest.mark.parametrize(
    "answer", [EMPTY, "The checker still reports failures. The task is not complete."]
)
def test_claims_in_new_words_that_are_refused_the_same_way_are_a_loop(answer):
    steps = [step for said in SAYINGS[:5] for step in (llm(said), user(answer))]
    assert kinds(steps) == [("refused", 5)]
    assert kinds(steps[2:]) == []


UNABLE = [
    "I'm sorry, but I can't run code here.",
    "I apologise for the confusion. This needs access to the repository.",
    "Unfortunately the exact lines are unknown to me.",
    "I am unable to give a patch that matches the file.",
    "I don't have the file, so the change stays a sketch.",
]


def test_excuses_in_new_words_that_are_refused_the_same_way_are_a_loop():
    answer = "Your edit could not be applied to the program. Please try again."
    steps = [step for said in UNABLE for step in (llm(said), user(answer))]
    assert kinds(steps) == [("refused", 5)]
    assert kinds(steps[2:]) == []
    edits = [f"Replace line {at} by `return {at}`." for at in range(7)]
    assert kinds([step for edit in edits for step in (llm(edit), user(answer))]) == []


@pytest.mark.parametrize(
    "answer",
    [
        NO_CALL,
        "The search API calls seem not valid. Please check the arguments and try again.",
        "Your response does not match the format that is described above.",
    ],
)
def test_four_answers_that_cannot_be_read_are_a_loop_whatever_they_say(answer):
    steps = [step for said in SAYINGS[:4] for step in (llm(said), user(answer))]
    assert kinds(steps) == [("refused", 4)]
    assert kinds(steps[2:]) == []


def test_wrong_guesses_are_tries():
    steps = [
        step for at in range(7) for step in (llm(f"It is {at * 7}."), user("Wrong. Try again."))
    ]
    assert kinds(steps) == []


def test_what_part_of_a_team_refuses_is_refused_too():
    terminal = {
        "type": "other",
        "name": "terminal",
        "output": "There is no code from the last message for me to execute.",
    }
    steps = [step for said in SAYINGS for step in (llm(said), terminal)]
    assert kinds(steps) == [("refused", 7)]


def test_a_refusal_after_a_call_without_a_result_is_its_result():
    call = {"type": "tool", "name": "task_done"}
    steps = [
        step
        for said in SAYINGS[:6]
        for step in ({**call, "arguments": {"message": said}}, user(EMPTY))
    ]
    assert kinds(steps) == [("same_failure", 6)]


def test_who_is_only_asked_to_go_on_is_not_refused():
    chapters = [
        "The rain fell.",
        "A door shut.",
        "Ann left.",
        "It was done.",
        "Snow.",
        "Years passed.",
    ]
    steps = [step for text in chapters for step in (llm(text), user("Please continue."))]
    assert kinds(steps) == []


def test_guesses_that_are_refused_are_no_claims():
    words = ["A map?", "A tree?", "A river?", "A cloud?", "A candle?", "A shadow?", "A towel?"]
    steps = [step for text in words for step in (llm(text), user("That is not correct."))]
    assert kinds(steps) == []


def test_work_between_claims_parts_them():
    steps = [
        step
        for at, said in enumerate(SAYINGS)
        for step in (llm(said), user(EMPTY), tool("edit", {"line": at, "new": f"x{at}"}, "edited"))
    ]
    assert kinds(steps) == []


ASKED = [
    "Please select the year 2020 in the list.",
    "Could you open the list of years, and choose the one of the listing?",
    "We need what was published in 2020; the list at the top has it.",
    "Let us try the menu with the years again, and take the third from below.",
    "Choose 2020, please, so that the older releases are shown.",
]
REPORT = "I clicked 'Select year'. The page is unchanged, and the list stays closed."


def named(name, text):
    return {"type": "llm", "name": name, "output": text}


def test_one_report_in_vain_to_every_wording_of_a_request_is_a_loop():
    steps = [step for ask in ASKED for step in (named("lead", ask), named("surfer", REPORT))]
    assert [repeats for _, repeats in kinds(steps)] == [5]
    assert kinds(steps[:6]) == []


def test_one_word_of_praise_for_every_part_of_the_work_is_none():
    praise = "Well done. That part meets the plan, please go on with what comes after it."
    parts = [f"I wrote the {part}, with tests of its edges." for part in
             ("parser", "printer", "index", "cache", "journal")]  # fmt: skip
    steps = [step for part in parts for step in (named("coder", part), named("critic", praise))]
    assert kinds(steps) == []


def test_a_call_between_parts_the_reports():
    steps = [
        step
        for at, ask in enumerate(ASKED)
        for step in (
            named("lead", ask),
            tool("scroll", {"to": at}, f"row {at * 7}"),
            named("surfer", REPORT),
        )
    ]
    assert kinds(steps) == []


LOOKED = tool("scan", {"system": "hull"}, "Hull: 98 percent, one breach, contained.")
PLANS = [
    "check the hull",
    "review the logs",
    "watch for new leaks",
    "record what was found",
    "plan the next watch",
]


def plan(text, banner="=== CURRENT PLAN ==="):
    return user(f"{banner}\n[ ] {text}\n====================")


def test_a_message_with_the_banner_of_an_earlier_one_is_no_new_request():
    steps = [step for text in PLANS for step in (plan(text), LOOKED)]
    assert kinds(steps) == [("identical", 5)]
    assert kinds([step for text in PLANS for step in (user(f"Please {text}."), LOOKED)]) == []
    headings = [f"=== PART {text.upper()} ===" for text in PLANS]
    assert kinds([step for text in headings for step in (plan("look", text), LOOKED)]) == []


@pytest.mark.parametrize(
    "message",
    [
        "{} prompt tokens, 216 completion tokens, $0.0949 cost",
        "Tokens: {}k sent, 1.2k received. Cost: $0.02 message, $0.31 session.",
    ],
)
def test_a_message_of_what_an_answer_took_is_no_new_request(message):
    steps = [step for at in range(5) for step in (user(message.format(18 + at * 7)), LOOKED)]
    assert kinds(steps) == [("identical", 5)]


def notified(share, tag="task-notification"):
    return user(f"<{tag}>\n<task-id>bt7</task-id>\n<summary>Monitor event: search-based fetch of all"
                f" pull requests of the last four weeks, in chunks of fifty</summary>\n<event>[17:36:12] chunk"
                f" {share}: +50 (cumulative {share * 50}/619)</event>\n</{tag}>")  # fmt: skip


def test_who_waits_for_a_task_that_reports_each_step_is_in_no_loop():
    steps = [step for at in range(12) for step in (notified(at), llm("Waiting."))]
    assert kinds(steps) == []
    # A test runner that is watched prints the same word for each test.
    assert kinds([step for _ in range(12) for step in (notified(3), llm("PASS."))]) == []
    reminded = [step for at in range(12) for step in (notified(at, "reminder"), llm("Waiting."))]
    assert kinds(reminded) != []


def test_a_message_of_another_agent_is_no_new_request():
    chatter = ["Great, go on!", "Nearly there.", "How far are you?", "I will wait.", "Nice work."]
    steps = [s for text in chatter for s in (user(f"jill: (FROM OTHER BOT) {text}"), LOOKED)]
    assert kinds(steps) == [("identical", 5)]
    assert kinds([s for text in chatter for s in (user(f"jill: {text}"), LOOKED)]) == []


def test_code_that_a_result_repeats_is_no_news():
    def placed(number, outcome="Failed to place the ladder at (155, -58)."):
        code = f"await place('ladder', {number}, {number * 7});"
        return tool("act", {"goal": "place the ladder"},
                    f"Summary\nThe agent wrote this code:\n```\n{code}\n```\nOutput:\n{outcome}")  # fmt: skip

    assert kinds([placed(at) for at in range(4)]) == [("identical", 4)]
    assert kinds([placed(at, f"Placed it {at} steps further up.") for at in range(4)]) == []


def test_an_empty_message_is_no_new_request_and_one_that_is_not_recorded_may_be():
    call = {"type": "tool", "name": "look", "arguments": {"at": "door"}, "output": "It is shut."}
    assert kinds([call, user("")] * 4) == [("identical", 4)]
    assert kinds([call, user(" \n")] * 4) == [("identical", 4)]
    assert kinds([call, user(None)] * 4) == []
    assert kinds([call, user([{"type": "image"}])] * 4) == []


LINES = (
    "The mooring is free again since the storm.",
    "Harbour dues are paid at the office by the gate.",
    "A second boat has asked for the same berth.",
)


@pytest.mark.parametrize(
    "name",
    ["Planner", "agent_2", "CodeReviewer", "assessor_oracle", "chat_manager", "DiscordBot", "log", "WorldSimulator"],
)  # fmt: skip
def test_a_message_of_a_named_agent_or_part_of_a_framework_is_no_new_request(name):
    told = [step for line in LINES for step in ({**user(line), "name": name}, EDIT)]
    assert kinds([EDIT, *told]) == [("identical", 4)]


def test_one_name_for_all_messages_is_the_users():
    messages = [
        {**user(line), "id": f"u{at}", "name": "travel_agent"} for at, line in enumerate(LINES)
    ]
    steps = [s for at, message in enumerate(messages) for s in (message, {**EDIT, "id": f"e{at}"})]
    steps.append({**EDIT, "id": "e9"})
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    assert result["details"]["loops"] == []


@pytest.mark.parametrize(
    "name", ["user", "Ida", "customer_agent_desk", "UserProxyAgent", "Talbot", None]
)
def test_a_message_of_a_named_person_is_a_new_request(name):
    told = [step for line in LINES for step in ({**user(line), "name": name}, EDIT)]
    assert kinds([EDIT, *told]) == []


def test_the_first_message_is_a_request_whoever_it_is_of():
    given = [{**user("Fix the cache."), "name": "Planner"}, *[EDIT] * 4]
    assert kinds(given) == [("identical", 4)]
    asked = [{**user(f"{line} Fix it."), "name": "Planner"} for line in LINES[:1]]
    assert kinds([*asked, EDIT, EDIT, user(LINES[1]), EDIT, EDIT]) == []


@pytest.mark.parametrize(
    "line",
    [
        "2025-09-19 22:02:08,943 [INFO] [root] - Mission state saved to {}.",
        "2025-09-19T22:02:08Z WARNING root: retry of {} begins",
        "[2025-09-19 22:02:08] DEBUG: next is {}",
    ],
)
def test_lines_of_a_log_in_a_row_are_no_new_requests(line):
    words = ("mooring", "dues", "berth")

    def told(*forms):
        messages = [
            [user(form.format(line.format(word), word)) for form in forms] for word in words
        ]
        return [step for some in messages for step in (*some, EDIT)]

    assert kinds([EDIT, *told("{0}", "{0} again")]) == [("identical", 4)]
    assert kinds([EDIT, *told("{0}")]) == []
    assert kinds([EDIT, *told("{0}\nWhy?", "About the {1}?")]) == []


AGAIN = llm("Here is your picture: /tmp/cat.png")


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("draw a picture of a cat", []),
        ("Draw a picture  of a cat", []),
        ("who will draw the cat?", [("text", 5)]),
        ("please continue", [("text", 5)]),
        ("go on with the picture", [("text", 5)]),
        ("no action was found in your answer", [("text", 5)]),
        ("draw a picture of a cat, " * 9, [("text", 5)]),
    ],
)
def test_the_order_that_a_run_begins_with_is_a_new_request_when_it_is_given_again(first, found):
    steps = [step for _ in range(5) for step in (user(first), AGAIN)]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    assert [(each["kind"], each["repeats"]) for each in result["details"]["loops"]] == found


@pytest.mark.parametrize(
    ("failure", "found"),
    [
        ({"error": "exit 1"}, [("identical", 5)]),
        ({"output": "Error: the file does not exist"}, [("identical", 5)]),
        ({}, []),
    ],
)
def test_the_order_that_a_harness_gives_again_after_a_failed_call_is_no_new_request(failure, found):
    call = {**tool("bash", {"command": "make picture"}, "a cat"), **failure}
    order = user("draw a picture of a cat")
    steps = [step for _ in range(5) for step in (order, call)]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    assert [(each["kind"], each["repeats"]) for each in result["details"]["loops"]] == found


def test_another_order_that_comes_again_between_equal_calls_is_from_the_framework():
    assert kinds([EDIT, *[step for _ in range(3) for step in (user("Edit a.py."), EDIT)]]) == [
        ("identical", 4)
    ]


def test_the_feedback_of_an_expert_is_no_new_request():
    said = [
        {**user(f"Expert feedback: {text}"), "name": "expert"}
        for text in ("look around", "open the drawer", "take the tomato")
    ]
    assert kinds([EDIT, *[step for each in said for step in (each, EDIT)]]) == [("identical", 4)]


BEAT = (
    "Read TASKS.md if it exists and follow it strictly. Do not repeat what earlier chats asked for. "
    * 3
)
NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z


def beats(minutes, count=6, *, failed=False):
    """Return turns that each begin with the same long message, so many minutes after the answer of the turn before."""
    check = tool("bash", {"command": "df -h"}, "/dev/sda2  24G  11G  12G  48% /")
    answer = llm("The disk is half full, and there is nothing to report.")
    turns = []
    for at in range(count):
        began = NOON + at * minutes * 60
        times = {"started_at": began, "ended_at": began}
        turns.append({**user(BEAT), "started_at": began})
        if failed:
            turns.append({"type": "llm", "error": "429: the quota is used up", **times})
        else:
            turns += [{**check, **times}, {**answer, **times}]
    return turns


def test_a_long_message_that_comes_minutes_after_an_answer_is_a_new_request():
    assert kinds(beats(minutes=30)) == []
    assert kinds(beats(minutes=1)) == [("identical", 6), ("text", 6)]


def test_one_that_comes_minutes_after_a_failed_answer_is_none():
    assert kinds(beats(minutes=30, count=12, failed=True)) == [("failed_answers", 12)]


PLAN = (
    "Check that the harbour folder exists.",
    "List the files of the ships in it.",
    "Count the words in each of the files.",
    "Keep the name of the longest one.",
    "Print the name and its number.",
    "Sort the names by their numbers.",
)


SAID = "I do it so:\n1. " + "\n2. ".join(PLAN)


def planned(orders, plan=SAID):
    """Return a run in which each order is followed by a command that a fence around it makes fail."""
    steps = [llm(plan)]
    for at, order in enumerate(orders):
        command = {"command": f"```BASH\nls harbour | head -{at}\n```"}
        steps += [user(order), tool("bash", command, "bash: line 1: BASH: command not found")]
    return steps


def test_the_steps_of_its_plan_that_a_harness_sends_to_the_agent_are_no_new_requests():
    assert kinds(planned(PLAN)) == [("same_failure", 6)]
    assert kinds(planned(PLAN, plan="I do it step by step.")) == []
    assert kinds(planned(PLAN[::-1])) == []
    others = [f"And now the {word} of the harbour, please." for word in ("north", "south", "east", "west", "walls")]  # fmt: skip
    assert kinds(planned([PLAN[0], *others])) == []


@pytest.mark.parametrize(
    "told",
    [
        "Your response was empty. Please provide an answer.",
        "Error: empty message",
        "The answer is blank, so say something.",
    ],
)
def test_empty_answers_that_are_refused_as_empty_are_a_loop(told):
    assert kinds([step for _ in range(4) for step in (llm(""), user(told))]) == [("refused", 4)]
    assert kinds([step for _ in range(3) for step in (llm(""), user(told))]) == []


def test_questions_that_the_agent_proposes_are_the_users():
    questions = [f"What is in the {word} of the harbour?" for word in ("north", "south", "east", "west")]  # fmt: skip
    answers = [step for each in questions for step in (user(each), llm("I do not know that of the harbour."))]  # fmt: skip
    assert kinds([llm("Ask me:\n- " + "\n- ".join(questions)), *answers]) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Please proceed to the next step using your best judgement. If you believe you have completed the task, please call the `submit()` tool.",
        "Please continue working on the task on whatever approach you think is suitable.\nIf you think you have solved the task, please finish the interaction.",
    ],
)
def test_the_prompt_of_a_known_framework_is_no_new_request_though_it_comes_once(prompt):
    runs = [
        tool("bash", {"command": f"nc -z db1 {5432 + at}"}, "connection refused") for at in range(6)
    ]
    assert kinds([*runs[:3], llm(""), user(prompt), *runs[3:]]) == [("same_failure", 6)]
    assert kinds([*runs[:3], llm(""), user("Try the ports of the north."), *runs[3:]]) == []
