"""Commands in changing forms: a loop if the same one or two answers come nine times, or three answers twelve times if they do not only read."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

FOUND = "/srv/boats/ferry.rb:  puts 'all aboard'\n"
LINE = "  puts 'all aboard'\n"
FORMS = [
    ("grep -r 'aboard' /srv/boats/*.rb", LINE),
    ("find /srv/boats -type f -name '*.rb' -exec grep -H 'aboard' {} \\;", FOUND),
    ("grep -r 'aboard' /srv/boats --include='*.rb'", FOUND),
    ("find /srv/boats -type f -name '*.rb' | xargs grep -H 'aboard'", FOUND),
    ("grep -h 'aboard' /srv/boats/*.rb", LINE),
    ("find /srv/boats -name '*.rb' -exec grep 'aboard' {} \\;", LINE),
    ("grep -r -H 'aboard' /srv/boats/*.rb", FOUND),
    ("grep -rH --include='*.rb' 'aboard' /srv/boats", FOUND),
    ("find /srv/boats -name '*.rb' -print0 | xargs -0 grep 'aboard'", LINE),
    ("grep -rH 'aboard' /srv/boats", FOUND),
]
PODS = "ferry Running\nquay Running\n"
ALONE = "ferry Running\n"
SERVICES = [
    ("kubectl get pods -n harbour", PODS),
    ("kubectl get pods --namespace harbour", PODS),
    ("kubectl get pods -n harbour --no-headers", PODS),
    ("kubectl get pods -n harbour --no-headers | grep Running", ALONE),
    ("kubectl get pods --no-headers --namespace harbour", PODS),
    ("kubectl get pods --namespace harbour | grep Running", ALONE),
    ("kubectl get --namespace harbour pods", PODS),
    ("kubectl get --namespace harbour pods --no-headers", PODS),
    ("kubectl get --no-headers pods -n harbour", PODS),
]


def steps_of(commands, tool, argument):
    return [
        {"type": "tool", "name": tool, "arguments": {argument: command}, "output": output}
        for command, output in commands
    ]


def kinds(commands, tool="bash", argument="command"):
    steps = steps_of(commands, tool, argument)
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config={}).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_one_question_in_nine_forms_with_two_answers_is_a_loop():
    assert kinds(FORMS) == [("nothing_new", 10)]
    assert kinds(FORMS[:8]) == []
    assert kinds(SERVICES) == [("nothing_new", 9)]


def test_another_answer_before_them_leaves_nine_a_loop():
    listing = ("ls /srv/boats", "ferry.rb\nlog.txt")
    assert kinds([listing, *FORMS[:9]]) == [("nothing_new", 9)]


@pytest.mark.parametrize("argument", ["command", "cmd", "action", "input"])
def test_a_shell_may_call_its_only_argument_otherwise(argument):
    assert kinds(FORMS, "shell", argument) == [("nothing_new", 10)]
    assert kinds(FORMS[:8], "shell", argument) == []


def test_what_another_tool_is_asked_is_no_command():
    assert kinds(FORMS, "look_up", "text") == []


NEEDLES = (
    "aboard",
    "ticket",
    "deck",
    "harbour",
    "cable",
    "pilot",
    "winch",
    "anchor",
    "crew",
    "buoy",
)
WAYS = (
    "grep -rl '{}' /srv/boats",
    "rg -l {} /srv/boats | sort",
    "find /srv/boats -type f | xargs grep -l {}",
)


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([*FORMS[:5], ("ls /srv/boats", "ferry.rb\nlog.txt"), *FORMS[5:]], id="another answer"),
        pytest.param([*FORMS[:5], ("rm /srv/boats/old.rb", "removed old.rb"), *FORMS[5:]], id="a change"),
        pytest.param([(f"grep -rl '{word}' /srv/boats", "/srv/boats/ferry.rb\n" if at % 3 else "/srv/boats/log.txt\n")
                      for at, word in enumerate(NEEDLES)], id="other words"),
        pytest.param([(form.format(word), "/srv/boats/ferry.rb\n" if at % 3 else "/srv/boats/log.txt\n")
                      for at, (word, form) in enumerate(zip(NEEDLES, WAYS * 4, strict=False))], id="other words in several forms"),
        pytest.param([(f"git log --oneline -1 -- {word}.rb", f"{'4f2a find ferries' if at % 3 else '77b1 add boats'}\n")
                      for at, word in enumerate(NEEDLES)], id="other files"),
        pytest.param([(f"grep -h aboard {' '.join(f'{word}{letter}.rb' for letter in 'abcdefghijklmn')}", LINE if at % 3 else FOUND)
                      for at, word in enumerate(NEEDLES)], id="many other files"),
        pytest.param([(command, str(at % 2)) for at, (command, _) in enumerate(FORMS)], id="answers to any question"),
        pytest.param([(command.replace("grep", "./pack").replace("find", "./ship"), output) for command, output in FORMS],
                     id="commands that may change something"),
        pytest.param([(f"kubectl get pods -n {place} -l size={size},deck={deck}", PODS if size < 40 else ALONE)
                      for place in ("harbour", "island") for deck in (1, 2) for size in (10, 20, 40, 80)],
                     id="combinations of values"),
    ],
)  # fmt: skip
def test_questions_that_differ_or_have_other_answers_are_no_loop(commands):
    assert kinds(commands) == []


BANNER = "harbour-dump 0.14, copyright of the harbour and all of its piers, cables and buoys\n"
NOT_FOUND = BANNER + "[*] connecting\n[-] the harbour answers, but not for this pier\n[*] closing\n"
NO_KEY = (
    BANNER
    + "[*] connecting\n[*] listing piers\n[-] the key is one of another harbour\n[*] closing\n"
)
NOTHING = BANNER + "[*] connecting\n[*] closing\n"
DUMPS = [
    (f"export KEY=pier.key && harbour-dump -k --no-password --host 10.0.0.7 {rest}", output)
    for rest, output in (
        ("quay.harbour", NOT_FOUND),
        ("--only admin quay.harbour", NO_KEY),
        ("--only admin harbour/quay.harbour", NO_KEY),
        ("harbour/admin@quay.harbour", NOT_FOUND),
        ("--only crew quay.harbour", NO_KEY),
        ("--only harbour/admin quay.harbour", NO_KEY),
        ("harbour/admin@10.0.0.7", NOT_FOUND),
        ("--piers harbour/admin@quay.harbour", NOTHING),
        ("--only admin admin@quay.harbour", NO_KEY),
        ("admin@quay.harbour", NOT_FOUND),
        ("--only crew admin@quay.harbour", NO_KEY),
        ("--piers admin@quay.harbour", NOTHING),
    )
]


def test_twelve_commands_with_three_answers_are_a_loop_although_they_may_change_something():
    assert kinds(DUMPS) == [("nothing_new", 12)]
    assert kinds(DUMPS[:11]) == []


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([*DUMPS[:6], (DUMPS[6][0], BANNER + "[*] 1 pier found"), *DUMPS[7:]], id="a fourth answer"),
        pytest.param([(command, "Successfully added the pier.") for command, _ in DUMPS], id="successes"),
        pytest.param([(command, output.removeprefix(BANNER)) for command, output in DUMPS], id="short answers"),
        pytest.param([(f"sleep 9 && {command}", output) for command, output in DUMPS], id="waits"),
        pytest.param([(f"./load {word}-{at}.bin --into {word[::-1]}", (NOT_FOUND, NO_KEY, NOTHING)[at % 3])
                      for at, word in enumerate([*NEEDLES, "quay", "mast"])], id="other things"),
    ],
)  # fmt: skip
def test_commands_that_get_on_are_no_loop_however_few_their_answers(commands):
    assert kinds(commands) == []


QUESTIONS = (
    "Anvils CEO birthday",
    "how old is the CEO of Anvils",
    "birth date of the head of Anvils",
    "Anvils chief executive age",
    "when was the boss of Anvils born",
    "Anvils director date of birth",
    "age of Anvils leader",
    "Anvils founder birth year",
    "who leads Anvils and how old",
    "Anvils president birthday",
    "Anvils management ages",
    "biography of the CEO of Anvils",
)


def asked(questions, told="Anvils Ltd. makes anvils in Graz since 1949."):
    return [(question, told) for question in questions]


def test_one_answer_to_twelve_wordings_of_a_question_is_a_loop():
    assert kinds(asked(QUESTIONS), "search", "query") == [("nothing_new", 12)]
    assert kinds(asked(QUESTIONS[:-1]), "search", "query") == []
    assert kinds([*asked(QUESTIONS[:6]), ("ferry", "All aboard"), *asked(QUESTIONS[6:])], "search", "query") == []  # fmt: skip
    dates = [f"birthday of the {word} of Anvils" for word in ["CEO", "boss", "head", "CFO", "CTO", "CIO", "founder", "owner", "cook", "cashier", "pilot", "porter"]]  # fmt: skip
    assert kinds(asked(dates), "search", "query") == []
