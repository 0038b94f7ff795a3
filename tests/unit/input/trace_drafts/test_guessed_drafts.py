"""Drafts for files whose names are unusual: what is guessed from words and from values that recur, and says so."""

from __future__ import annotations

import pytest

from weighbridge.errors import InputError
from weighbridge_producer.input.trace_drafts.key_roles import Role, may_be, words_of
from weighbridge_producer.input.trace_drafts.observed import At

THOUGHTS = ["I look at the first file.", "I look at the second one.", "It is the second one."]


def named(number, name="nome_ferramenta", given="entrada", made="saida"):
    return {name: "ler" if number % 2 else "buscar", given: {"q": number}, made: f"texto {number}"}


@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("nome_ferramenta", "entrada", "saida"),
        ("toolKey", "params", "reply"),
        ("tool_or_action", "inputs", "result"),
        ("herramienta", "argumentos", "salida"),
        ("инструмент", "аргументы", "результат"),
        ("工具", "参数", "结果"),
    ],
)
def test_names_of_tools_are_found_by_the_words_in_the_name_of_the_field(drafts, name, given, made):
    mapping = drafts.of_rows(*(named(number, name, given, made) for number in range(4)))
    assert "guessed: each step is taken for a call of the tool" in mapping
    step = drafts.traces(mapping)[0]["steps"][1]
    assert step == {"type": "tool", "name": "ler", "arguments": {"q": 1}} | (
        {"output": "texto 1"} if made != "reply" else {}
    )


def test_names_that_recur_beside_objects_that_differ_and_results_are_those_of_tools(drafts):
    rows = [
        {"what": ("read", "list")[n % 2], "with": {"n": n}, "outcome_output": "x" * n}
        for n in range(6)
    ]
    mapping = drafts.of_rows(*rows)
    assert "  name: /what\n" in mapping
    assert drafts.types(mapping) == [["tool"] * 6]


def test_levels_and_states_that_recur_are_no_names_of_tools(drafts):
    rows = [{"level": ("a", "b")[n % 2], "with": {"n": n}, "output": n} for n in range(6)]
    with pytest.raises(InputError, match="tells calls of models and tools"):
        drafts.of_rows(*rows)


def test_actions_that_are_answers_or_outcomes_count_as_no_calls_and_have_a_remark(drafts):
    rows = [
        {"action": {"type": word}, "result": {"n": n}}
        for n, word in enumerate(["search_web", "respond_directly", "ask_user", "search_web"])
    ]
    mapping = drafts.of_rows(*rows)
    assert drafts.types(mapping) == [["tool", "tool"]]
    assert "respond_directly: other  # guessed: an answer or an outcome" in mapping


def test_a_text_of_the_model_beside_a_call_is_an_answer_and_the_call_counts_without_it(drafts):
    rows = [
        {"tool": "ls", "args": {"d": 1}, "result": "a", "note": "I look first."},
        {"tool": "cat", "args": {"d": 2}, "result": "b", "note": ""},
        {"tool": "cat", "args": {"d": 3}, "result": "c", "note": "And there."},
        {"note": "It is b."},
    ]
    mapping = drafts.of_rows(*rows)
    assert drafts.types(mapping) == [["llm", "tool", "tool", "llm", "tool", "llm"]]
    calls = [step for step in drafts.traces(mapping)[0]["steps"] if step["type"] == "tool"]
    assert [call["arguments"] for call in calls] == [{"d": 1}, {"d": 2}, {"d": 3}]
    assert [call["output"] for call in calls] == ["a", "b", "c"]
    assert '"": other  # 1 steps have no such text' in mapping


def test_a_message_of_a_log_beside_its_calls_is_no_answer_of_a_model(drafts):
    rows = [{"message": "budget checked"}] * 5 + [{"tool": "f", "args": {}, "message": "called"}]
    assert "llm" not in drafts.types(drafts.of_rows(*rows))[0]


@pytest.mark.parametrize(
    "beside", [{"model": "m"}, {"question": "Which?"}, {"latency_sec": 2.5}, {"round": 1}]
)
def test_long_texts_without_a_tool_are_answers_if_something_beside_them_shows_it(drafts, beside):
    rows = [{"next_thought": text, "seq": n, **beside} for n, text in enumerate(THOUGHTS)]
    mapping = drafts.of_rows(*rows)
    assert drafts.types(mapping) == [["llm"] * 3]
    assert "guessed: " in mapping
    assert "  output: /next_thought\n" in mapping


def test_a_text_whose_name_says_that_it_is_of_an_agent_is_an_answer(drafts):
    mapping = drafts.of_rows(*({"agent_response": text, "page": 3} for text in THOUGHTS))
    assert drafts.types(mapping) == [["llm"] * 3]


def test_texts_with_nothing_beside_them_are_not_guessed_to_be_answers(drafts):
    with pytest.raises(InputError, match="no draft can be made"):
        drafts.of_rows(*({"paragraph": text, "page": 3} for text in THOUGHTS))


def test_agents_that_state_how_long_they_took_are_guessed_to_be_model_calls(drafts):
    agents = [{"agent": name, "duration_ms": 90, "status": "ok"} for name in ("plan", "write")]
    mapping = drafts.of_rows({"run_id": "a", "agents": agents}, {"run_id": "b", "agents": agents})
    assert drafts.types(mapping) == [["llm", "llm"]] * 2


def test_events_are_told_apart_by_words_that_hint_at_what_they_are(drafts):
    rows = [
        {"stage": word, "body": f"{word} {n}"}
        for n in range(2)
        for word in ("Perceive", "Plan", "Act")
    ]
    mapping = drafts.of_rows(*rows)
    assert drafts.types(mapping) == [["llm", "tool"] * 2]
    assert "Plan: llm  # guessed: taken for an answer of a model because of the word" in mapping
    assert "Perceive: other  # not known" in mapping


def test_events_around_calls_are_not_guessed_to_be_calls(drafts):
    rows = [{"stage": word} for word in ("actual_run", "plan_workflow_completed", "active")]
    with pytest.raises(InputError):
        drafts.of_rows(*rows, *rows)


def test_actions_in_words_are_calls_without_a_name_of_a_tool(drafts):
    steps = [{"action": f"open drawer {n}", "observation": f"It is empty {n}."} for n in range(3)]
    mapping = drafts.of([{"id": str(n), "moves": steps} for n in range(2)])
    assert drafts.types(mapping) == [["tool"] * 3] * 2
    assert "  arguments: /action\n" in mapping


def test_what_is_known_is_preferred_to_what_is_guessed(drafts):
    calls = [{"tool": "f", "args": {"n": n}} for n in range(2)]
    rows = [{"ferramenta_acao": "x", "entrada": {"n": n}, "saida": "y"} for n in range(9)]
    mapping = drafts.of({"acoes": rows, "calls": calls})
    assert "steps: /calls" in mapping
    assert "guessed" not in mapping


def test_the_words_of_a_name_hint_at_its_role():
    assert words_of("toolOrAction_Nãme2") == ["tool", "or", "action", "name"]

    def roles(key):
        return {role for role in Role if may_be(At("/" + key, (key,)), role)}

    assert Role.TOOL in roles("ferramenta_id")
    assert Role.TOOL not in roles("tool_result")
    assert roles("tool_count") == set()
    assert Role.ARGUMENTS in roles("eingabeParameter")


def test_the_error_without_a_draft_has_the_smallest_mapping_with_the_keys_of_the_file(drafts):
    rows = [{"lane": ("left", "right")[n % 2], "said": "abc", "n": n} for n in range(4)]
    with pytest.raises(InputError, match=r"4 objects, the lines.*/lane, /said, /n") as caught:
        drafts.of_rows(*rows)
    example = caught.value.hint.split("`")[1]
    assert drafts.types(example) == [[]]
    assert "type: /lane, types: {left: other, right: other" in example
    with pytest.raises(InputError, match="neither lines nor an array of objects"):
        drafts.of('{"a":\n{"b": 1}}')


def test_the_example_of_an_error_names_the_array_of_runs_and_of_steps(drafts):
    runs = [{"moves": [{"lane": "x", "n": n}, {"lane": "y", "n": n}]} for n in range(2)]
    with pytest.raises(InputError) as caught:
        drafts.of({"all": runs})
    example = caught.value.hint.split("`")[1]
    assert len(drafts.traces(example)) == 2
