"""The columns that are proposed for rows of well-known data sets and evaluation tools."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.proposal import Proposal

NEEDED = ("agent_response", "expected_output")
SQUAD = {"text": ["Paris"], "answer_start": [3]}


def proposed(row: dict[str, Any]) -> Proposal:
    return propose([row], NEEDED)


@pytest.mark.parametrize(
    ("row", "response", "expected"),
    [
        ({"row_id": 1, "model": {"answer": "a", "tokens": 2}, "answers": SQUAD, "topic": "t"}, "model.answer", "answers.text.0"),
        ({"id": "1", "prediction_text": "a", "answers": SQUAD}, "prediction_text", "answers.text.0"),
        ({"id": "1", "prediction_text": "a", "answers": [{"text": "a", "answer_start": 3}]}, "prediction_text", "answers.0.text"),
        ({"id": "1", "context": "c", "question": "q", "answers": SQUAD}, None, "answers.text.0"),
        ({"question": "q", "answers": ["a", "b"], "output": "a"}, "output", "answers.0"),
        ({"doc_id": 0, "doc": {"answer": "x"}, "target": "4", "resps": [["4"]], "filtered_resps": ["4"]}, "filtered_resps.0", "target"),
        ({"instance_id": "1", "predicted_text": "a", "instance": {"references": [{"output": {"text": "a"}}]}}, "predicted_text", "instance.references.0.output.text"),
        ({"sample_id": "s", "data": {"correct": True, "expected": "a", "picked": "a", "sampled": "a"}}, "data.sampled", "data.expected"),
        ({"input": "q", "ideal": ["a", "b"], "completion": "a"}, "completion", "ideal.0"),
        ({"user_input": "q", "retrieved_contexts": ["c"], "response": "a", "reference": "a", "faithfulness": 1.0}, "response", "reference"),
        ({"question": "q", "contexts": ["c"], "answer": "a", "ground_truths": ["a"]}, "answer", "ground_truths.0"),
        ({"record_id": "r", "main_input": "q", "main_output": "a", "golden_answer": "a"}, "main_output", "golden_answer"),
        ({"inputs.question": "q", "outputs.output": "a", "reference.output": "a", "feedback.correctness": 1}, "outputs.output", "reference.output"),
        ({"attributes.input.value": "q", "attributes.output.value": "a", "eval.correct.label": "correct", "ground_truth": "a"}, "attributes.output.value", "ground_truth"),
        ({"inputs": "q", "targets": "a", "predictions": "a", "exact_match/score": 1}, "predictions", "targets"),
        ({"inputs": {"q": "x"}, "outputs": "a", "expectations": {"expected_response": "a"}}, "outputs", "expectations.expected_response"),
        ({"inputs.query": "q", "inputs.response": "a", "inputs.ground_truth": "a", "outputs.f1.f1_score": 1.0}, "inputs.response", "inputs.ground_truth"),
        ({"response": {"output": "a"}, "tokenUsage": {"prompt": 5, "completion": 2}, "score": 1}, "response.output", None),
        ({"prompt": "q", "generated": "a", "label": "a", "score": 1}, "generated", "label"),
        ({"id": 1, "labels": ["a"], "predictions": ["a"]}, "predictions.0", "labels.0"),
        ({"utt": "u", "reference": "a", "hypothesis": "a", "wer": 0.0}, "hypothesis", "reference"),
        ({"src": "q", "mt": "a", "ref": "a"}, "mt", "ref"),
        ({"question": "q", "choices": ["a", "b"], "answer": "B", "pred": "B"}, "pred", "answer"),
        ({"question": "q", "answer": "a", "gpt-4o": "a"}, "gpt-4o", "answer"),
        ({"question": "q", "answer": "a", "llama_answer": "a"}, "llama_answer", "answer"),
        ({"text": "q", "prediction_text": "a", "label": "a"}, "prediction_text", "label"),
        ({"text": "q", "predicted_label": "a", "true_label": "a", "label": "a"}, "predicted_label", "label"),
        ({"y_true": "a", "y_pred": "a"}, "y_pred", "y_true"),
        ({"actual": "a", "predicted": "a"}, "predicted", "actual"),
        ({"actual": "a", "expected": "a"}, "actual", "expected"),
        ({"Actual Result": "a", "Expected Result": "a", "result": "PASS"}, "Actual Result", "Expected Result"),
        ({"predicted_result": "a", "actual_result": "a"}, "predicted_result", "actual_result"),
        ({"Fall": "a", "Soll": "a", "Ist": "a"}, "Ist", "Soll"),
        ({"id": 1, "model_answer": "a", "accepted_answers": "a"}, "model_answer", "accepted_answers"),
        ({"conversationTurns": [{"inputRecord": {"referenceResponses": [{"content": [{"text": "a"}]}]}, "output": {"text": "a"}}]}, "conversationTurns.0.output.text", "conversationTurns.0.inputRecord.referenceResponses.0.content.0.text"),
        ({"Question": "q", "Final answer": "a", "model_answer": "a", "Annotator Metadata": {"Steps": "1"}}, "model_answer", "Final answer"),
        ({"question": "q", "final_answer": "a", "model_answer": "a"}, "model_answer", None),
        ({"response": "a", "answer": "a", "correct": True}, "response", "answer"),
        ({"question": "q", "answer": "a", "response_model": "m", "gold": "a"}, "answer", "gold"),
        ({"qid": 1, "gold_answers": ["a"], "answer": "a"}, "answer", "gold_answers.0"),
        ({"question_id": 1, "answer": {"value": "a", "aliases": ["b"]}, "generated_answer": "a"}, "generated_answer", "answer.value"),
        ({"inputRecord": {"prompt": "q", "referenceResponse": "a"}, "modelResponses": [{"response": "a"}]}, "modelResponses.0.response", "inputRecord.referenceResponse"),
        ({"source": "q", "translation": "a", "reference": "a"}, "translation", "reference"),
        ({"id": 1, "resposta_esperada": "a", "saida": "a"}, "saida", "resposta_esperada"),
        ({"pytanie": "q", "odpowiedź": "a", "oczekiwana odpowiedź": "a"}, "odpowiedź", "oczekiwana odpowiedź"),
        ({"soru": "q", "cevap": "a", "beklenen cevap": "a"}, "cevap", "beklenen cevap"),
        ({"정답": "a", "모델 응답": "a"}, "모델 응답", "정답"),
    ],
)  # fmt: skip
def test_the_agents_answer_and_the_expected_one_are_not_confused(
    row: dict[str, Any], response: str | None, expected: str | None
) -> None:
    found = proposed(row)
    assert (found.fields.get("agent_response"), found.fields.get("expected_output")) == (
        response,
        expected,
    )


@pytest.mark.parametrize(
    ("row", "doubted"),
    [
        ({"answer": "a", "answers": ["a"]}, ("expected_output", "agent_response")),
        ({"answer": "a", "label": "a"}, ("expected_output", "agent_response")),
        ({"question": "q", "answer": "a"}, ("agent_response",)),
        ({"model": {"answer": "a"}, "answers": SQUAD}, ()),
        ({"response": "a", "answer": "a"}, ()),
        ({"answer": "a", "gold": "a"}, ()),
    ],
)
def test_names_that_may_mean_either_answer_are_said_to_be_guessed(
    row: dict[str, Any], doubted: tuple[str, ...]
) -> None:
    found = proposed(row)
    assert found.doubted == doubted
    if doubted:
        assert "guessed from names that may mean either, so check" in found.caution
    else:
        assert not found.caution


QUESTION = [{"role": "user", "content": "q"}]
ANSWERED = [*QUESTION, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("row", "response", "doubted"),
    [
        ({"outputs": {"messages": ANSWERED}}, "outputs.messages.-1.content", ()),
        ({"outputs": {"messages": QUESTION}}, None, ()),
        ({"outputs": {"final_answer": "a", "steps": ["s"]}}, "outputs.final_answer", ()),
        ({"output": {"tool_calls": ["search"], "text_final": "a"}}, "output.text_final", ("agent_response",)),
        ({"output": {"citations": ["c"], "result": "a"}}, "output.result", ()),
        ({"output": {"answers_seen": ["c"], "last": "a"}}, "output.last", ("agent_response",)),
        ({"output": {"steps": ["a"]}}, "output.steps.0", ("agent_response",)),
        ({"output": ["a"]}, "output.0", ()),
    ],
)  # fmt: skip
def test_a_text_of_the_agent_comes_before_elements_of_lists_beside_it(
    row: dict[str, Any], response: str | None, doubted: tuple[str, ...]
) -> None:
    rows = {"inputs": {"question": "q"}, **row, "reference_outputs": {"answer": "a"}}
    found = proposed(rows)
    assert found.fields["expected_output"] == "reference_outputs.answer"
    assert (found.fields.get("agent_response"), found.doubted) == (response, doubted)


@pytest.mark.parametrize(
    ("columns", "response", "expected"),
    [
        ("output,prediction", "prediction", "output"),
        ("completion,prediction", "prediction", "completion"),
        ("response,prediction", "prediction", "response"),
        ("output,model_output", "model_output", "output"),
        ("output,generation", "generation", "output"),
        ("completion,generated", "generated", "completion"),
        ("instruction,input,output,prediction", "prediction", "output"),
        ("instruction,context,response,model_response,category", "model_response", "response"),
        ("output,predicted_answer", "predicted_answer", "output"),
        ("response,gpt-4.1", "gpt-4.1", "response"),
        ("output,claude_response", "claude_response", "output"),
    ],
)
def test_a_data_sets_own_answer_is_expected_beside_the_models(
    columns: str, response: str, expected: str
) -> None:
    found = proposed(dict.fromkeys(columns.split(","), "a"))
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (response, expected)
    assert "expected_output" in found.doubted


@pytest.mark.parametrize(
    "columns",
    ["output,generation_time", "output,model_version", "response,prediction_score", "output,predicted_tokens", "completion"],
)  # fmt: skip
def test_an_answer_beside_a_measurement_is_the_agents(columns: str) -> None:
    found = proposed(dict.fromkeys(columns.split(","), "a"))
    assert found.fields["agent_response"] == columns.partition(",")[0]
    assert found.missing == ("expected_output",)


TRUTHFUL = [
    ("Misc", "What happens to you if you eat watermelon seeds?", "They pass through you", "Nothing happens; they pass through", "You grow watermelons; you die", "Nothing at all happens to you"),
    ("Misc", "Where did fortune cookies originate?", "They came from San Francisco", "California; San Francisco", "They came from China; Japan", "The origin is San Francisco"),
    ("Myth", "Why do veins appear blue?", "Because blue light penetrates less", "Blue light; scattering", "Blood is blue; lack of oxygen", "Light scatters in the skin"),
]  # fmt: skip
TRUTHFUL_COLUMNS = ("Type", "Question", "Best Answer", "Correct Answers", "Incorrect Answers")


@pytest.mark.parametrize(
    ("last", "guessed", "doubted"),
    [
        ("gpt-4o", (), ("agent_response",)),
        ("claude-3.5-sonnet", (), ("agent_response",)),
        ("meta-llama/Llama-3.1-8B", (), ("agent_response",)),
        ("our bot", ("agent_response",), ()),
        ("gpt-4o answer", (), ()),
    ],
)
def test_two_expected_answers_are_never_compared_with_each_other(
    last: str, guessed: tuple[str, ...], doubted: tuple[str, ...]
) -> None:
    rows = [dict(zip((*TRUTHFUL_COLUMNS, last), row, strict=True)) for row in TRUTHFUL]
    found = propose(rows, NEEDED)
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (
        last,
        "Best Answer",
    )
    assert (found.guessed, found.doubted) == (guessed, doubted)
    without = propose([dict(zip(TRUTHFUL_COLUMNS, row, strict=False)) for row in TRUTHFUL], NEEDED)
    assert without.missing == ("agent_response",)


@pytest.mark.parametrize("first", ["best_answer", "ideal_response", "gold_answer", "target_output"])
def test_names_of_expected_answers_are_not_the_agents(first: str) -> None:
    rows = [{first: f"the text {each} is", "correct_answer": f"the text {each}"} for each in "abc"]
    assert propose(rows, NEEDED).missing == ("agent_response",)


@pytest.mark.parametrize(
    ("columns", "rivals"),
    [
        ("question,reference_answer,gpt5_answer,claude_answer", ("gpt5_answer", "claude_answer")),
        ("question,gold,gpt-4o,claude-sonnet-4", ("gpt-4o", "claude-sonnet-4")),
        ("response,prediction,gold", ("response", "prediction")),
        ("gold,model_a_output,model_b_output,output_tokens", ("model_a_output", "model_b_output")),
        ("question,answer,gpt4_response,output_format,response_time", ()),
        ("instruction,output,prediction", ()),
    ],
)
def test_the_first_of_several_agents_is_proposed_and_the_others_are_named(
    columns: str, rivals: tuple[str, ...]
) -> None:
    found = proposed(dict.fromkeys(columns.split(","), "a"))
    assert found.rivals == rivals
    if rivals:
        assert found.fields["agent_response"] == rivals[0]
        named = f"2 columns may be the answer: {', '.join(rivals)}"
        assert named in found.caution


@pytest.mark.parametrize(
    ("outputs", "expected", "fields"),
    [
        ({"label": "a"}, {"label": "a"}, ("outputs.label", "reference_outputs.label")),
        ({"label": "a", "why": "w"}, {"label": "a", "by": "b"}, ("outputs.label", "reference_outputs.label")),
        ({"answer": "long", "label": "a"}, {"label": "a", "by": "b"}, ("outputs.label", "reference_outputs.label")),
        ({"category": "a", "why": "w"}, {"category": "a", "by": "b"}, ("outputs.category", "reference_outputs.category")),
        ({"text": "a", "lang": "en"}, {"answer": "a", "lang": "en"}, ("outputs.text", "reference_outputs.answer")),
    ],
)  # fmt: skip
def test_the_expected_answer_has_the_name_of_the_agents_in_an_object_of_references(
    outputs: dict[str, Any], expected: dict[str, Any], fields: tuple[str, str]
) -> None:
    row = {"inputs": {"text": "q"}, "outputs": outputs, "reference_outputs": expected}
    found = proposed(row).fields
    assert (found["agent_response"], found["expected_output"]) == fields


WORDS = ("Paris", "Lima", "Rome", "Oslo")


@pytest.mark.parametrize(
    ("rows", "response", "expected", "guessed"),
    [
        (
            [{"id": w, "expected_result": w, "actual_result": w, "result": "PASS"} for w in WORDS],
            "actual_result", "expected_result", "",
        ),
        (
            [{"label": n % 2, "label_text": "+-"[n % 2] * 3, "prediction": "+-"[n % 2] * 3} for n in range(4)],
            "prediction", "label_text", "expected_output",
        ),
        ([{"gt": w, "answer": f"steps #### {w}", "pred": [w]} for w in WORDS], "pred.0", "gt", ""),
        (
            [{"output": f"It is {w}", "alt_output": w, "gold": w} for w in WORDS],
            "alt_output", "gold", "agent_response",
        ),
    ],
)  # fmt: skip
def test_of_columns_with_equally_clear_names_those_that_agree_are_proposed(
    rows: list[dict[str, Any]], response: str, expected: str, guessed: str
) -> None:
    found = propose(rows, NEEDED)
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (response, expected)
    assert bool(guessed) == (
        guessed in found.caution and "guessed from the values" in found.caution
    )


def test_an_answer_that_never_agrees_is_said_if_another_column_does() -> None:
    rows = [{"output": f"It is {w}", "final": f" {w.upper()}", "gold": w} for w in WORDS]
    found = propose(rows, NEEDED)
    assert found.fields["agent_response"] == "output"
    assert found.caution == (
        "agent_response: no value of 'output' equals expected_output in the first 4 rows, but some of 'final' do"
    )
    assert not propose([row | {"output": "Rome"} for row in rows], NEEDED).caution
    assert not propose(rows[:1], NEEDED).caution


@pytest.mark.parametrize(
    ("columns", "response", "expected", "rivals"),
    [
        ("problem,solution,answer,model_output", "model_output", "answer", ("answer", "solution")),
        ("problem,solution,answer,generation", "generation", "answer", ("answer", "solution")),
        ("problem,answer,solution,response", "response", "answer", ("answer", "solution")),
        ("problem,solution,answer", "answer", "solution", ()),
        ("problem,solution,answer,output_tokens", "answer", "solution", ()),
        ("problem,gold,answer,output", "output", "gold", ()),
    ],
)
def test_the_answer_beside_a_solution_is_expected_if_the_agents_is_another_column(
    columns: str, response: str, expected: str, rivals: tuple[str, ...]
) -> None:
    found = proposed({name: name for name in columns.split(",")})
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (response, expected)
    assert found.expected_rivals == rivals


def test_a_column_that_may_be_either_answer_is_named_if_it_agrees_where_the_expected_one_never_does() -> (
    None
):
    rows = [{"output": w, "answer": w, "gold": f"Work. {w}"} for w in WORDS]
    found = propose(rows, NEEDED)
    assert found.fields["expected_output"] == "gold"
    assert found.rivals == ("output", "answer")
    assert (
        "expected_output: no value of 'gold' equals agent_response in the first 4 rows, but some of 'answer' do"
        in found.caution
    )


@pytest.mark.parametrize(
    "name", ["question", "choice_1", "A", "incorrect_answer", "gold_copy", "doc.answer"]
)
def test_questions_options_and_copies_of_the_expected_answer_are_not_compared_with_it(
    name: str,
) -> None:
    rows = [{"output": "unknown", name: w, "target": w} for w in WORDS]
    assert "no value of" not in propose(rows, NEEDED).caution


@pytest.mark.parametrize(
    ("row", "rivals"),
    [
        ({"baseline_output": "a", "candidate_output": "b"}, "baseline_output, candidate_output"),
        ({"answer_a": {"text": "a"}, "answer_b": {"text": "b"}}, "answer_a.text, answer_b.text"),
        ({"old": {"response": "a"}, "question": {"response": "b"}}, ""),
    ],
)
def test_answers_that_differ_by_the_names_of_their_objects_are_named(
    row: dict[str, Any], rivals: str
) -> None:
    found = proposed(row | {"reference": "a"})
    assert ", ".join(found.rivals) == rivals
    assert (f"agent_response: 2 columns may be the answer: {rivals}" in found.caution) == bool(
        rivals
    )


@pytest.mark.parametrize(
    ("row", "rivals"),
    [
        ({"reference": "https://a.org", "correct_answer": "a"}, ("reference", "correct_answer")),
        ({"reference": "a", "correct_answer": "a"}, ()),
        ({"expected_output": "a", "reference": "https://a.org"}, ()),
        ({"gold": "a", "target_language": "de", "correct": True, "incorrect_answer": "b"}, ()),
    ],
)
def test_several_expected_answers_are_named_if_they_differ(
    row: dict[str, Any], rivals: tuple[str, ...]
) -> None:
    found = proposed(row | {"response": "It is a"})
    assert found.expected_rivals == rivals
    assert ("2 columns may be the expected answer: reference" in found.caution) == bool(rivals)
    assert rivals or not found.caution


@pytest.mark.parametrize(
    ("answers", "around"),
    [
        ({"completions": ["Paris", "Vienna"]}, "completions"),
        ({"output": ["a", "b"]}, "output"),
        ({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}, "choices"),
        ({"completions": ["Paris", "Paris"]}, ""),
        ({"output": ["a"]}, ""),
        ({"output": [{"text": "a", "at": 1}, {"text": "a", "at": 2}, {"at": 3}]}, ""),
    ],
)
def test_the_first_of_several_answers_of_the_agent_is_said_to_be_the_only_one_taken(
    answers: dict[str, Any], around: str
) -> None:
    found = proposed({"id": "1", **answers, "expected": "Paris"})
    note = f"agent_response: only the first of several answers in {around!r}; to grade each entry, map @each={around}"
    assert found.fields["agent_response"].startswith(f"{next(iter(answers))}.0")
    assert found.caution == (note if around else "")


def test_a_first_entry_that_alone_has_the_value_is_said_to_be_taken() -> None:
    entries = [{"name": "gold", "expected": "Paris"}, {"name": "judge"}]
    rows = [{"id": each, "output": "Paris", "assessments": entries} for each in "ab"]
    rows.append({"id": "c", "output": "Rome", "assessments": entries[:1]})
    found = propose(rows, NEEDED, accepts_several=True)
    note = "expected_output: taken from the first entry of 'assessments', as the others have none"
    how = "; to take it from any, map expected_output=assessments.*.expected"
    assert found.fields["expected_output"] == "assessments.0.expected"
    assert found.caution.endswith(note + how)
    assert propose(rows, NEEDED).caution.endswith(note)
    assert note not in propose(rows[2:], NEEDED).caution


@pytest.mark.parametrize("accepts_several", [True, False])
def test_lists_with_as_many_answers_as_expected_ones_are_no_lists_of_accepted_answers(
    accepts_several: bool,
) -> None:
    rows = [
        {"model": name, "predictions": ["a", "b", "b"], "labels": ["a", "c", "b"]} for name in "xy"
    ]
    found = propose(rows, NEEDED, accepts_several=accepts_several)
    assert found.fields == {"custom_id": "@row", "agent_response": "predictions.0"}
    assert found.missing == ("expected_output",)
    assert (
        "expected_output: 'predictions' and 'labels' have as many entries in each row; if these belong together by their position,"
        " write a row for each: jq -c"
        " 'range(.predictions | length) as $n | .predictions |= .[$n] | .labels |= .[$n]' FILE > COPY"
    ) in found.caution
    accepted = "if each of 'labels' is accepted, map expected_output=labels" in found.caution
    assert accepted == accepts_several
    assert "@each" not in found.caution
    rows[0]["labels"].append("d")
    assert not propose(rows, NEEDED, accepts_several=accepts_several).missing


@pytest.mark.parametrize("first", ["Tokyo", "Paris"])
def test_the_first_of_several_references_is_said_to_be_the_only_one_taken(first: str) -> None:
    references = [
        {"output": {"text": first}, "tags": []},
        {"output": {"text": "Paris"}, "tags": ["correct"]},
    ]
    rows = [
        {"id": str(n), "instance": {"references": references}, "predicted_text": "Rome"}
        for n in (1, 2)
    ]
    found = propose(rows, NEEDED)
    assert found.fields["expected_output"] == "instance.references.0.output.text"
    note = (
        "expected_output: only the first of several entries of 'instance.references', even if another is the correct one; a mapping"
        " cannot choose by 'tags', so keep only the correct ones in a copy: jq -c"
        """ '(.. | .references? | arrays) |= map(select(.tags | index("correct")))' FILE > COPY"""
    )
    assert found.caution == (note if first != "Paris" else "")


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ({"is_correct": True}, "select(.is_correct == true)"),
        ({"kind": "gold"}, ""),
        ({"is correct": True}, ""),
    ],
)
def test_entries_with_a_boolean_for_the_correct_one_are_kept_by_it(
    mark: dict[str, Any], said: str
) -> None:
    references = [{"text": "Tokyo"}, {"text": "Paris", **mark}]
    found = propose([{"id": "1", "references": references, "predicted_text": "x"}] * 2, NEEDED)
    assert found.fields["expected_output"] == "references.0.text"
    assert said in found.caution
    assert ("jq" in found.caution) == bool(said)


def test_of_several_entries_without_a_mark_it_is_said_how_to_accept_each() -> None:
    gold = {"answers": [{"at": 1, "text": {"en": "Paris"}}, {"at": 2, "text": {"en": "the Paris"}}]}
    rows = [{"id": f"q{n}", "gold": gold, "predicted_text": "x"} for n in range(2)]
    found = propose(rows, NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "gold.answers.0.text.en"
    each = "; to accept each entry, map expected_output=gold.answers.*.text.en"
    assert found.caution.endswith(f"even if another is the correct one{each}")
    assert each not in propose(rows, NEEDED).caution
    tries = [{"tries": [{"gold": "a", "response": "a"}, {"gold": "b", "response": "a"}]}] * 2
    assert "to accept each" not in propose(tries, NEEDED, accepts_several=True).caution


def test_a_column_that_may_be_the_answer_too_is_not_proposed_as_the_expected_one() -> None:
    answers = ["Paris", "Lima", "Kyoto", "Nairobi"]
    rows = [
        {"instance_id": f"id{n}", "predicted_text": text, "truncated_output_text": text}
        for n, text in enumerate(answers)
    ]
    found = propose(rows, NEEDED)
    assert found.fields["agent_response"] == "predicted_text"
    assert found.missing == ("expected_output",)
    assert found.rivals == ("predicted_text", "truncated_output_text")


def test_an_id_within_lists_is_said_to_be_that_of_the_first_entry_alone() -> None:
    questions = [{"id": f"q{n}", "question": "?"} for n in range(2)]
    rows = [{"title": "T", "paragraphs": [{"qas": questions}, {"qas": [{"id": "q9"}]}]}]
    caution = propose(rows, ["agent_response", "expected_output"]).caution
    assert (
        "custom_id: only the first entry of 'paragraphs' and 'paragraphs.0.qas' in each row is a case"
        in caution
    )
    assert (
        "only the first entry"
        not in propose([{"id": "a", "tags": ["x", "y"]}], ["agent_response"]).caution
    )


@pytest.mark.parametrize("order", [1, -1])
def test_an_expected_answer_that_is_a_list_in_some_rows_only_is_taken_whole(order: int) -> None:
    rows = [
        {"id": "a", "output": "Paris", "gold": "Paris"},
        {"id": "b", "output": "Lima", "gold": ["Lima", "Lima, Peru"]},
    ]
    found = propose(rows[::order], NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "gold"


TRIVIA = {
    "value": "Paris",
    "aliases": ["Paris", "City of Light"],
    "normalized_value": "paris",
    "normalized_aliases": ["paris", "city of light"],
}


def test_further_accepted_answers_beside_one_are_proposed_with_it():
    row = {"question_id": "q", "answer": TRIVIA, "prediction": "City of Light"}
    found = propose([row], NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "answer.aliases"
    assert not found.caution
    alone = propose([row], NEEDED)
    assert alone.fields["expected_output"] == "answer.value"
    assert "only the first of several answers" in alone.caution


@pytest.mark.parametrize(
    "names",
    [["City of Light"], '["Paris", "City of Light"]'],
    ids=["without the answer", "JSON in a text"],
)
def test_further_accepted_answers_that_cannot_be_taken_are_named(names):
    row = {"id": 1, "gold": "Paris", "accepted_answers": names, "prediction": "Paris"}
    found = propose([row], NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "gold"
    assert "without the further accepted answers in 'accepted_answers'" in found.caution


@pytest.mark.parametrize("further", [["Paris", "In Paris"], ["In Paris"]])
def test_further_correct_answers_beside_the_best_one_are_taken_or_named(further):
    row = {"best_answer": "Paris", "correct_answers": further, "incorrect_answers": ["Rome"]}
    found = propose([row | {"model_answer": "Paris"}], NEEDED, accepts_several=True)
    has_best = "Paris" in further
    assert found.fields["expected_output"] == ("correct_answers" if has_best else "best_answer")
    note = "without the further accepted answers in 'correct_answers'"
    assert (note in found.caution) == (not has_best)


def test_what_an_answer_is_chosen_from_is_no_list_of_accepted_answers():
    row = {"id": 1, "gold": "Paris", "possible_answers": ["Paris", "Rome"], "prediction": "Rome"}
    found = propose([row], NEEDED, accepts_several=True)
    assert found.fields["expected_output"] == "gold"
    assert not found.leaves_out_answers


CITIES = ["Paris", "Cusco", "Oslo", "Rome"]
SCORES = ["1.0", "0.1", "0.55", "1.0"]


def rows_of(**columns: list[Any]) -> list[dict[str, Any]]:
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def test_scores_are_no_expected_answers_of_texts() -> None:
    record = [f'{{"main_output": "{city}"}}' for city in CITIES]
    rows = rows_of(
        output=CITIES,
        record_json=record,
        Groundedness=["1.0"] * 4,
        ground_truth_agreement=SCORES,
        target_overlap=SCORES,
    )
    found = propose(rows, NEEDED, has_only_texts=True)
    assert found.fields["agent_response"] == "output"
    assert found.missing == ("expected_output",)
    assert not found.caution


@pytest.mark.parametrize("shares", [SCORES, ["1.0", "0.0", "1.0", "1.0"], [1.0, 0.0, 0.0, 1.0]])
def test_the_agreement_of_texts_with_the_ground_truth_is_not_expected(shares: list[Any]) -> None:
    rows = [
        {"output": city, "Ground Truth": share} for city, share in zip(CITIES, shares, strict=True)
    ]
    assert propose(rows, NEEDED).missing == ("expected_output",)
    numbers = [row | {"output": row["Ground Truth"]} for row in rows]
    assert propose(numbers, NEEDED).fields["expected_output"] == "Ground Truth"
    whole = [row | {"Ground Truth": number} for number, row in enumerate(rows)]
    assert propose(whole, NEEDED).fields["expected_output"] == "Ground Truth"


@pytest.mark.parametrize("marker", ["\\N", "NULL", "None"])
def test_cells_that_say_that_there_is_no_value_do_not_agree(marker: str) -> None:
    dates = ["2026-01-01", marker, marker, "2026-01-02", marker, marker]
    agents, humans = ["1", "0", "1", "0", marker, "1"], ["1", "1", "0", "0", "1", marker]
    texts = ["late", "broken", "x", "ok", "none", "unk"]
    rows = rows_of(id=list("abcdef"), text=texts, agent_ok=agents, human_ok=humans, seen=dates)
    found = propose(rows, NEEDED, has_only_texts=True, booleans=frozenset("01"))
    assert (found.fields["agent_response"], found.fields["expected_output"]) == (
        "agent_ok",
        "human_ok",
    )
    alike = rows_of(x=["a b", marker, "c d", marker], y=["e f", marker, "g h", marker])
    assert set(propose(alike, NEEDED, has_only_texts=True).missing) == {*NEEDED}


@pytest.mark.parametrize("separator", ["|", "; "])
def test_several_answers_in_one_text_are_said_to_be_no_list(separator: str) -> None:
    gold = [f"{city}{separator}the {city}" for city in CITIES]
    found = propose(rows_of(output=CITIES, accepted_answers=gold), NEEDED)
    assert found.fields["expected_output"] == "accepted_answers"
    assert found.caution.startswith(
        f"expected_output: 'accepted_answers' seems to have several answers in one text, such as {gold[0]!r}"
    )
    assert found.caution.endswith("as a list in JSON, and map json(accepted_answers)")
    assert not propose(rows_of(output=CITIES, accepted_answers=CITIES), NEEDED).caution


@pytest.mark.parametrize(
    ("name", "outputs", "values"),
    [
        ("reference_value", ["0.5", "12", "3", "7"], ["0.5", "12.25", "3", "8"]),
        ("gold", CITIES, SCORES),
        ("gold_label", CITIES, [0, 1, 1, 2]),
        ("correct_option", CITIES, ["0", "3", "1", "1"]),
    ],
)
def test_numbers_that_may_be_the_answer_are_expected(
    name: str, outputs: list[Any], values: list[Any]
) -> None:
    found = propose(rows_of(output=outputs, **{name: values}), NEEDED)
    assert found.fields["expected_output"] == name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("answer_correctness", SCORES),
        ("target_overlap", SCORES),
        ("target_overlap", ["3", "1", "2", "2"]),
        ("gpt-4.1_correct", ["1", "0", "0", "1"]),
        ("gpt-4.1_correct", ["True", "False", "False", "True"]),
        ("gpt-4.1_correct", [True, False, False, True]),
        ("correct", ["1", "0", "0", "1"]),
        ("target_hash", ["ab", "cd", "ef", "gh"]),
        ("generator", ["gpt-4o"] * 4),
        ("gpt4_judge", ["good", "bad", "good", "bad"]),
    ],
)
def test_judgements_measurements_and_facts_about_an_answer_are_not_named_as_answers(
    name: str, values: list[Any]
) -> None:
    found = propose(rows_of(output=CITIES, gold=CITIES, **{name: values}), NEEDED)
    assert (found.fields["agent_response"], found.fields["expected_output"]) == ("output", "gold")
    assert not found.caution
    alone = propose(rows_of(output=CITIES, **{name: values}), NEEDED)
    assert "expected_output" in alone.missing or name == "target_overlap"


def test_other_columns_of_numbers_are_named_beside_numbers() -> None:
    numbers = ["42", "7", "3", "8"]
    found = propose(rows_of(gold=numbers, gpt5_answer=numbers, claude_answer=numbers), NEEDED)
    assert found.rivals == ("gpt5_answer", "claude_answer")


def test_models_with_a_dot_in_their_versions_are_columns_beside_each_other() -> None:
    models = ("gpt-4o", "claude-3-5-sonnet", "gemini-1.5-pro", "gemini-1.5-flash", "gpt-4.1")
    found = proposed({"question": "q", "gold": "a"} | dict.fromkeys(models, "a"))
    assert found.rivals == models
    nested = proposed({"gold": "a", "gpt-4": {"output": "a"}, "gpt-5": {"output": "b"}})
    assert nested.rivals == ("gpt-4.output", "gpt-5.output")


def test_many_columns_that_may_be_the_answer_are_counted() -> None:
    found = proposed({"gold": "a"} | {f"gpt-{number}": "a" for number in range(25)})
    assert "25 columns may be the answer: gpt-0, gpt-1" in found.caution
    assert "gpt-19 and 5 more" in found.caution


@pytest.mark.parametrize("order", [1, -1])
def test_two_forms_of_what_the_agent_wrote_are_not_compared_with_each_other(order: int) -> None:
    texts = ["a blue sky", "four or so", "no idea at all"]
    forms = ("text", "text_post_processed")[::order]
    rows = [
        {"doc": {"id": text[0]}, "model_response": {key: [text] for key in forms}} for text in texts
    ]
    found = propose(rows, NEEDED)
    assert found.fields["agent_response"] == "model_response.text.0"
    assert found.missing == ("expected_output",)
    unnamed = [{"model": {"x": text, "y": text}} for text in texts]
    assert "expected_output" in propose(unnamed, NEEDED).missing
    beside = [{"model": {"x": text}, "y": text} for text in texts]
    assert propose(beside, NEEDED).fields["expected_output"] == "y"
    gold = [{"uid": text, "reference": {"x": text, "aliases": [text.upper()]}} for text in texts]
    assert propose(gold, NEEDED).missing == ("agent_response", "expected_output")


def test_a_record_around_the_answer_is_not_guessed_to_be_the_expected_one() -> None:
    texts = ["a blue sky", "four or so", "no idea at all"]
    rows = [{"response": text, "x": f'{{"main_output": "{text}"}}'} for text in texts]
    assert propose(rows, NEEDED).missing == ("expected_output",)
    rows = [{"a": f'{{"city": "{text}"}}', "b": f'{{"city": "{text}"}}'} for text in texts]
    assert not propose(rows, NEEDED).missing


def test_a_list_that_is_proposed_in_place_of_a_column_names_that_column() -> None:
    rows = [
        {"id": 1, "model_answer": "a", "gold": "b", "accepted": ["b", "c"]},
        {"id": 2, "model_answer": "d", "gold": "d", "accepted": ["d", "e"]},
    ]
    found = propose(rows, ("agent_response", "expected_output"), accepts_several=True)
    assert found.fields["expected_output"] == "accepted"
    assert "expected_output: 'accepted' has the answers of 'gold' too" in found.notes
