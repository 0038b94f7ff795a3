"""One outcome that keeps coming back to related attempts: a loop, although a few other outcomes lie between."""

from __future__ import annotations

from itertools import product

import pytest

from weighbridge.graders.loop import LoopGrader

REFUSED = "ldap_bind: Invalid credentials (49)\n\tadditional info: data 52e, v4563\n"
REFERRAL = "# extended LDIF\nresult: 10 Referral\ntext: 0000202B: RefErr: DSID-031\n"
#: Attempts at a search, of which some come again, with the outcomes of a server that refuses most of them.
BINDS = [
    ("10.0.0.1", "mia@east.example", REFUSED),
    ("10.0.0.2", "mia@east.example", REFUSED),
    ("10.0.0.1", "mia", REFUSED),
    ("10.0.0.3", "mia@east.example", REFERRAL),
    ("10.0.0.2", "mia", REFUSED),
    ("10.0.0.2", "mia@east.example", REFUSED),
    ("10.0.0.3", "EAST\\mia", REFERRAL.replace("031", "044")),
    ("10.0.0.1", "EAST\\mia", REFUSED),
    ("10.0.0.2", "EAST\\mia", REFUSED),
    ("10.0.0.1", "mia@east.example", REFUSED),
    ("10.0.0.3", "mia", REFERRAL.replace("031", "057")),
    ("10.0.0.2", "mia@east.example", REFUSED),
]
OPTIONS = ["", "-B ", "-e ", "-q ", "-B -e ", "-B -q ", "-q -e ", "-B -q -e ", "-e -B "]
PAGERS = ["", " | cat", " | tail -50"]
POM = "<project>\n" + "\n".join(f"  <module>service-{at}</module>" for at in range(20))


def bash(command, output):
    return {"type": "tool", "name": "bash", "arguments": {"command": command}, "output": output}


def binds(rows=BINDS):
    return [
        bash(f'ldapsearch -H ldap://{host} -x -D "{user}" -w secret -b "DC=west" "(sn=*)"', output)
        for host, user, output in rows
    ]


def builds(count, output="rc=0\n"):
    pairs = zip(range(count), product(PAGERS, OPTIONS), strict=False)
    return [
        bash(f"cd /srv/shop && mvn {option}test 2>&1{pager}", output)
        for _, (pager, option) in pairs
    ]


def greps(count, output=POM):
    return [
        bash(f"cat pom.xml | grep -E 'registry|validator' -B{at} -A{at} | head -{2 * at}", output)
        for at in range(300, 300 + 50 * count, 50)
    ]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_a_refusal_that_keeps_coming_back_is_a_loop_although_other_answers_lie_between():
    assert kinds(binds()) == [("same_failure", 9)]
    assert kinds(binds()[:-1]) == []


def test_the_limit_follows_max_repeats():
    assert kinds(binds()[:-1], max_repeats=2) == [("same_failure", 8)]
    assert kinds(binds(), max_repeats=4) == []


def test_one_outcome_whose_lines_come_in_another_order_is_the_same():
    lines = [
        "Warning: the password may be echoed.",
        "Client 0.13, all rights reserved",
        "[-] give a domain!",
    ]
    outputs = ["\n".join(lines[at % 3 :] + lines[: at % 3]) for at in range(9)]
    domains = ["east west", "west east", "west west"]
    steps = [
        bash(f"echo secret | users --host 10.0.0.1 --user mia --domain {domains[at % 3]}", output)
        for at, output in enumerate(outputs)
    ]
    assert kinds(steps) != []
    others = [
        bash(step["arguments"]["command"], f"{step['output']} ({at}x)")
        for at, step in enumerate(steps)
    ]
    assert kinds(others) == []


def test_a_command_that_should_print_and_prints_nothing_in_ever_other_forms_is_a_loop():
    assert kinds(builds(9)) == [("nothing_new", 9)]
    assert kinds(builds(8)) == []


def test_a_command_that_waits_first_is_spared():
    commands = [step["arguments"]["command"] for step in builds(9)]
    assert kinds([bash(f"sleep 60; {command}", "rc=0\n") for command in commands]) == []


@pytest.mark.parametrize(
    "command",
    ["rm -v x.txt{0}", "mkdir -p a && touch x{0}", "git add x{0}", "mvn {0} test > log.txt"],
)
def test_a_command_that_prints_nothing_when_it_works_is_spared(command):
    assert kinds([bash(command.format(option), "") for option in OPTIONS]) == []


def test_one_long_answer_is_nothing_new_whatever_the_numbers():
    assert kinds(greps(9)) == [("nothing_new", 9)]
    assert kinds(greps(8)) == []


def test_long_answers_that_differ_are_progress():
    steps = greps(9)
    grown = [
        bash(step["arguments"]["command"], f"{POM}\n{at} more") for at, step in enumerate(steps)
    ]
    assert kinds(grown) == []


def test_combinations_of_values_are_different_questions():
    flights = [
        {
            "type": "tool",
            "name": "search_flights",
            "arguments": {"origin": "SFO", "destination": to, "date": f"2025-11-{day}"},
            "output": "[]",
        }
        for to, day in product(("JFK", "LGA", "EWR"), range(12, 17))
    ]
    assert kinds(flights) == []


@pytest.mark.parametrize(
    "between",
    [
        {"type": "user", "output": "Please go on with the second domain."},
        bash("sed -i s/west/east/ ldap.conf", ""),
        bash("sleep 30", ""),
    ],
    ids=["a request", "a change", "a wait"],
)
def test_what_may_change_the_outcome_restarts_the_count(between):
    steps = binds()
    assert kinds([*steps[:6], between, *steps[6:]]) == []


def test_a_read_between_the_attempts_does_not_restart_the_count():
    steps = binds()
    assert kinds([*steps[:6], bash("cat notes.txt", "none yet"), *steps[6:]]) == [
        ("same_failure", 9)
    ]


def test_two_thirds_of_the_calls_from_the_first_attempt_to_the_last_have_the_outcome():
    def among(reads):
        looks = [bash(f"cat notes-{at}.txt", f"note {at}") for at in range(reads)]
        steps = [step for step in binds() if step["output"] == REFUSED]
        return [*steps[:3], *looks[:2], *steps[3:6], *looks[2:], *steps[6:]]

    assert kinds(among(4)) == [("same_failure", 9)]
    assert kinds(among(5)) == []


def test_attempts_among_many_other_outcomes_are_an_investigation():
    steps = [
        each
        for at, step in enumerate(binds())
        for each in (step, bash(f"cat notes-{at}.txt", f"note {at}"))
    ]
    assert kinds(steps) == []


GUESSES = [
    "s3cur3_r4nd0m",
    "w3_h0p3",
    "r3v3rs1ng",
    "unl1m1t3d",
    "0v3rfl0w",
    "ult1m4te",
    "subw4ys",
    "fr33_r1d3s",
    "l33t",
]


def test_guesses_that_are_refused_alike_are_a_loop_however_they_differ():
    guesses = [bash(f"submit 'flag{{{guess}}}'", "Wrong flag!") for guess in GUESSES]
    guesses.insert(4, bash("connect_send fedc", "The session is not running: start it first"))
    assert kinds(guesses) == [("same_failure", 9)]
    assert kinds(guesses[1:]) == []


def test_files_that_are_not_there_are_no_guesses():
    assert kinds([bash(f"cat {name}.txt", f"{name}.txt: not found") for name in GUESSES]) == []


SORRY = "I apologize for the confusion."
SAYINGS = [
    f"{SORRY} Let us start with a basic action. {{}}",
    f"{SORRY} Let us start by checking what we have. {{}}",
    f"{SORRY} Let us proceed with a basic action as requested. {{}}",
]
ACTIONS = ["look", "inventory", "Action: inventory"]


def test_a_short_answer_to_one_request_in_other_words_is_a_loop():
    steps = [
        {
            "type": "tool",
            "name": "act",
            "arguments": {"action": saying.format(action)},
            "output": "You have a lamp, a rope and half a loaf of bread.",
        }
        for saying, action in product(SAYINGS, ACTIONS)
    ]
    assert kinds(steps) == [("nothing_new", 9)]
    assert kinds(steps[1:]) == []


def test_steps_through_a_maze_of_which_many_are_equal_are_no_loop():
    ways = [
        "north",
        "east",
        "north",
        "west",
        "south",
        "north",
        "east",
        "south",
        "west",
        "north",
        "east",
        "west",
    ]
    moves = [
        {"type": "tool", "name": "act", "arguments": {"action": f"go {way} along the passage"},
         "output": "You are in a maze of twisty little passages."}
        for way in ways
    ]  # fmt: skip
    assert [kind for kind, _ in kinds(moves) if kind == "nothing_new"] == []


def queries(texts, output, numbered=()):
    """Return queries with one outcome, to which some add a line with a number."""
    return [
        bash(f"query {text}", f"{output}\n{at}" if at in numbered else output)
        for at, text in enumerate(texts)
    ]


ONLY = "The registry is all that there is for that."


def test_guesses_whose_refusal_counts_up_are_progress():
    steps = [
        bash(f"submit 'flag{{{guess}}}'", f"Wrong flag!\n{at // 2}")
        for at, guess in enumerate([*GUESSES, "gu3ss"])
    ]
    assert kinds(steps) == []


def test_one_guess_among_different_questions_makes_them_no_guesses():
    days = list(product(("JFK", "LGA", "EWR"), range(12, 17)))
    full = "Refused: the flight is full."
    steps = [bash(f"book SFO {to} 2025-11-{day}", full) for to, day in days]
    steps[4] = bash("submit SFO JFK 2025-11-16", full)
    assert kinds(steps) == []


@pytest.mark.parametrize(
    ("texts", "output", "numbered", "found"),
    [
        ("green north red red red green green red green red red red", "That is not the one.", (3, 5, 6), [("same_failure", 9)]),
        ("east west 10 10 10 west west west east east east south west", "", (0, 4, 7), [("nothing_new", 10)]),
    ],
    ids=["a failure", "nothing"],
)  # fmt: skip
def test_few_forms_of_an_attempt_are_a_loop_unless_they_have_a_short_answer(
    texts, output, numbered, found
):
    steps = queries([f"name -v all users {text}" for text in texts.split()], output, numbered)
    assert kinds(steps) == found


def test_few_forms_of_an_attempt_with_a_long_answer_are_a_loop():
    steps = [
        bash(f"deploy -q {target}", f"{POM}\n{at}" if at in {3, 5, 6} else POM)
        for at, target in enumerate(
            ["20", "20", "ann", "20", "ann", "20", "ann", "20", "20", "ann", "20"]
        )
    ]
    assert kinds([*steps, bash("list -q ann", POM)]) == [("nothing_new", 9)]


def test_forms_of_which_each_comes_twice_are_not_few():
    texts = [
        "tom x3", "tom west", "eva west", "east x3", "tom x3",
        "east x3", "ann x3", "east x3", "tom west", "ann x3",
    ]  # fmt: skip
    assert kinds(queries([f"record with city {text}" for text in texts], ONLY)) == [
        ("nothing_new", 10)
    ]


def test_questions_about_different_names_have_one_short_answer():
    names = ["mia", "tom", "ann", "eva", "ben", "mia", "tom", "leo", "ida", "ann"]
    steps = queries([f"all users of the city registry named {name}" for name in names], ONLY, (3,))
    assert kinds(steps) == []


def test_a_list_whose_items_share_words_has_one_short_answer():
    names = [
        "ida", "tom lee", "ben", "ann roy", "tom fox", "mia kay",
        "ida lee", "ann fox", "ben", "mia kay", "tom day", "leo day",
    ]  # fmt: skip
    assert kinds(queries([f"user {name} in the city registry" for name in names], ONLY)) == []


def test_values_of_which_three_change_at_once_are_no_combinations():
    texts = [
        "a f c g d", "e f d g a", "f d d g g", "f b d b f", "f a a g f", "c b a g d",
        "c b g d e", "a b g a c", "e d g g c", "e d d e d", "e d g c b",
    ]  # fmt: skip
    texts = [" ".join(f"v{value}" for value in text.split()) for text in texts]
    assert kinds(queries([f"record of name {text}" for text in texts], ONLY)) == [
        ("nothing_new", 11)
    ]


def test_a_limit_that_is_raised_each_time_is_another_question():
    steps = [bash(f"grep -A{10 * 2**at} name pom.xml | sort", POM) for at in range(9)]
    assert kinds(steps) == []
    again = [bash(f"grep -A{10 + 2 * at} name pom.xml | sort", POM) for at in range(9)]
    assert kinds(again) == [("nothing_new", 9)]


def test_a_command_that_prints_nothing_but_a_number_that_rises_makes_progress():
    steps = builds(12)
    risen = [
        bash(step["arguments"]["command"], f"rc=0\n{at // 2}") for at, step in enumerate(steps)
    ]
    assert kinds(risen) == []
    mixed = [bash(step["arguments"]["command"], f"rc=0\n{at % 2}") for at, step in enumerate(steps)]
    assert kinds(mixed) == [("nothing_new", 12)]


ROLES = ("sshd", "user", "shell", "sysctl", "docker", "update", "locale", "wall", "watch", "dns")


def test_files_of_one_template_are_other_files_although_they_hold_the_same():
    template = "galaxy_info:\n  author: your name\n" + "  # Optionally, list the platforms.\n" * 12
    files = [
        {
            "type": "tool",
            "name": "view",
            "arguments": {"file_path": f"/srv/ansible/roles/{role}/meta/main.yml"},
            "output": template,
        }
        for role in ROLES
    ]
    assert kinds(files) == []
    assert kinds(files[:5] * 2) == [("nothing_new", 10)]
    pages = [
        {**step, "name": "read_url", "arguments": {"url": f"https://home.example/roles/{role}"}}
        for role, step in zip(ROLES, files, strict=True)
    ]
    assert kinds(pages) == [("nothing_new", 10)]
