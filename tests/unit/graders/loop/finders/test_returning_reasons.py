"""Related attempts that all fail, most of them for one reason: a loop, whatever else their results say."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.loop import LoopGrader

#: Ways to start a program that is not installed, and how Python words it.
STARTS = {
    "-m lintkit": "python3: No module named lintkit",
    "-m lintkit.bin": "python3: Error while finding module specification for 'lintkit.bin' (ModuleNotFoundError: No module named 'lintkit')",
    "src/lintkit/bin.py": "python3: can't open file '/srv/src/lintkit/bin.py': [Errno 2] No such file or directory",
    "-m lintkit.lint": "python3: Error while finding module specification for 'lintkit.lint' (ModuleNotFoundError: No module named 'lintkit')",
    "-m lintkit src/lintkit/lint.py": "python3: No module named lintkit",
    "-m src.lintkit": "Traceback (most recent call last):\n  File \"/srv/src/lintkit/__init__.py\", line 8\nModuleNotFoundError: No module named 'lintkit'",
    "src/lintkit/__main__.py": "python3: can't open file '/srv/src/lintkit/__main__.py': [Errno 2] No such file or directory",
    "-m lintkit.core": "python3: Error while finding module specification for 'lintkit.core' (ModuleNotFoundError: No module named 'lintkit')",
}


def bash(command, output):
    return {"type": "tool", "name": "bash", "arguments": {"command": command}, "output": output}


def starts(count=8):
    return [
        bash(f"python3 {start} --format json /srv/template.yaml", f"{said}\n[exit code 1]")
        for start, said in [*STARTS.items()][:count]
    ]


def crafts(reasons):
    """Return attempts at a script that gets a little longer and stops in one of its lines."""
    return [
        {
            "type": "tool",
            "name": "run_code",
            "arguments": {
                "code": "go_to(forest)\n" + "cut_wood(5)\n" * at + "craft_item('boat', 2)\nsail()"
            },
            "output": f"Attempt {at} failed:\nError in the following lines:\n  Line {7 + at % 3}: craft_item('boat', 2)\n\n"
            f"Exception: could not craft {at % 4} boats because {reason}\nState: {'ash' * at}",
        }
        for at, reason in enumerate(reasons)
    ]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_attempts_that_fail_for_one_reason_are_a_loop_however_the_failures_are_worded():
    assert kinds(starts()) == [("same_failure", 6)]
    assert kinds(starts(7)) == [("same_failure", 5)]
    assert kinds(starts(5)) == []


def test_the_limit_follows_max_repeats():
    assert kinds(starts(6), max_repeats=2) == [("same_failure", 5)]
    assert kinds(starts(), max_repeats=5) == []


def test_a_reason_counts_in_whichever_line_it_stands():
    assert kinds(crafts(["there is no sail cloth left"] * 6)) == [("same_failure", 6)]
    assert kinds(crafts(["there is no sail cloth left"] * 4)) == []


def test_calls_that_only_read_have_one_try_more():
    steps = crafts(["there is no sail cloth left"] * 6)
    assert kinds(steps[:5]) == [("same_failure", 5)]
    reading = [{**step, "name": "fetch_page"} for step in steps]
    assert kinds(reading[:5]) == []
    assert kinds(reading) == [("same_failure", 6)]


def builds(reasons):
    """Return builds whose logs stand in an object, each with another recipe."""
    return [
        {
            "type": "tool",
            "name": "build",
            "arguments": {"recipe": "compile with the new libraries", "flags": "-x" * at},
            "output": {
                "attempt": f"{'abcdefghij'[at]} of ten",
                "log": f"[ERROR] Failed to execute goal {'compile' * at}: {reason}\n"
                "[ERROR] To see the full stack trace of the errors, run the build again.\nend of log",
            },
        }
        for at, reason in enumerate(reasons)
    ]


def test_a_reason_counts_in_the_lines_of_a_log_that_stands_in_an_object():
    steps = builds(["the class Sail was not found"] * 6)
    assert kinds(steps) == [("same_failure", 6)]
    written = [{**step, "output": json.dumps(step["output"])} for step in steps]
    assert kinds(written) == [("same_failure", 6)]


def test_advice_below_any_failure_is_no_reason():
    goods = ["Sail", "Tar", "Nail", "Plank", "Rope", "Paint", "Oar"]
    assert kinds(builds([f"the class {each} was not found" for each in goods])) == []


def test_other_reasons_are_news():
    goods = ["sail cloth", "tar", "nails", "planks", "rope", "paint", "oars"]
    assert kinds(crafts([f"there is no {each} left" for each in goods])) == []


def test_a_few_other_reasons_between_do_not_restart_the_count():
    cloth, tar = "there is no sail cloth left", "there is no tar left"
    assert kinds(crafts([cloth, tar, cloth, cloth, tar, cloth, tar, cloth])) == [
        ("same_failure", 5)
    ]


@pytest.mark.parametrize(
    "between",
    [
        bash("cat setup.cfg", "[metadata]"),
        bash("pip install lintkit", "Successfully installed lintkit-1.0"),
        {"type": "user", "output": "Please try that in the other folder."},
    ],
    ids=["a read", "a change", "a request"],
)
def test_a_success_or_a_request_between_restarts_the_count(between):
    steps = starts()
    assert kinds([*steps[:4], between, *steps[4:]]) == []


def test_a_number_that_falls_beside_the_reason_is_progress():
    steps = [
        bash(
            f"make check -k part{at}", f"Error {'abcdefgh'[at]}: {20 - at} of 40 tests have failed"
        )
        for at in range(8)
    ]
    assert kinds(steps) == []


def test_a_mere_flag_is_no_reason():
    steps = [
        {**step, "output": f"saw {'tree' * at} at noon\nsuccess: False, box: none at all"}
        for at, step in enumerate(starts(8))
    ]
    assert kinds(steps) == []


def test_files_that_are_all_missing_are_a_list():
    names = ["anna", "ben", "carl", "dora", "emil", "fritz", "gerda", "hans"]
    said = "cat: {0}.txt: No such file or directory in this folder"
    assert kinds([bash(f"cat {name}.txt", said.format(name)) for name in names]) == []


def test_a_limit_that_is_raised_is_no_loop():
    steps = [
        bash(f"timeout {2**at} make check -j{at}", f"Error {at}: the tests were stopped too early")
        for at in range(3, 12)
    ]
    assert kinds(steps) == []


@pytest.mark.parametrize("end", ["not ok", "Initialization failed"])
def test_ends_of_lines_that_are_too_short_to_be_a_reason_do_not_count(end):
    steps = [
        {**step, "output": f"Error: {word} in {word[::-1]}\n{end}"}
        for step, word in zip(
            crafts("abcdefg"),
            ["leak", "fire", "rust", "mold", "warp", "snag", "tear"],
            strict=True,
        )
    ]
    assert kinds(steps) == []


OPTIONS = ["", "-DskipAssets=true", "-Dassets.skip", "-Passets-off", "-Dskip.assets.install", "-o"]


def package(options, reason):
    """Return a build whose output goes through `tail`: it ends with 0, and the failure stands above advice."""
    said = (
        "[WARNING] \n[WARNING] Some problems were encountered while building the effective model\n"
        "[INFO] --------------------------------------------------\n[INFO] BUILD FAILURE\n"
        f"[ERROR] Failed to execute goal org.acme:assets-plugin:2.1:install on project shop: {reason} -> [Help 1]\n"
        "[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n"
        "[ERROR] Re-run Maven using the -X switch to enable full debug logging.\n[ERROR] \n"
        "[ERROR] For more information about the errors and possible solutions, please read the following articles:\n"
        "[ERROR] [Help 1] http://docs.example.com/MojoFailureException"
    )
    return bash(f"cd /srv/shop && mvn package {options} 2>&1 | tail -50", said)


def test_a_build_that_ends_with_advice_below_its_error_has_failed_whatever_its_exit_code():
    assert kinds(
        package(options, "the folder /srv/x:/shop/static does not exist.") for options in OPTIONS
    ) == [("same_failure", 6)]


def test_builds_that_each_fail_for_another_reason_are_none():
    reasons = ["disk quota exceeded", "out of heap", "bad checksum", "unknown host", "no licence"]
    assert (
        kinds(
            package(options, f"{reason} while it ran.")
            for options, reason in zip(OPTIONS, [*reasons, "no such tag"], strict=True)
        )
        == []
    )


def signed(count, said="Error sign, please check your signature algorithm: origin[{at}f]", **more):
    """Return requests of an interface that refuses them in an answer which is no error itself."""
    bodies = [
        json.dumps({"code": 10004, "msg": said.format(at=7919 * at), "result": {}, "time": 1776 + at}, indent=2)
        for at in range(count)
    ]  # fmt: skip
    return [
        {
            "type": "tool",
            "name": "execute_code",
            "arguments": {"code": f"key = load_key()\nquery = sort_query({'key, ' * at}stamp)\nprint(sign(query))\nprint(get('/wallet', query))"},
            "output": json.dumps({"status": "success", "output": f"signed {at * 104729:x} for '{'a' * at}'\n{body}"}),
            **more,
        }
        for at, body in enumerate(bodies)
    ]  # fmt: skip


def test_refusals_within_answers_that_are_no_errors_are_failures_for_one_reason():
    assert kinds(signed(6)) == [("same_failure", 6)]
    assert kinds(signed(5)) == []
    assert kinds(signed(9, "The wallet {at} has no errors, 3 coins")) == []
    assert kinds(signed(9, "OK, the wallet is open")) == []


def test_calls_of_one_message_do_not_know_of_each_others_results():
    message = {"type": "llm", "id": "m", "output": "I sign it in nine ways."}
    assert kinds([message, *signed(9, parent_id="m")]) == []
