"""Rows that are traces and have the answer and the expected one beside them: a mapping is proposed to graders of answers."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import MappingError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.missing_paths import refuse_missing_paths
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.recognition import recognise, trace_format

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.first_rows import SeenRows

CHAT = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
SHARED = [{"from": "human", "value": "2+2?"}, {"from": "gpt", "value": "4"}]
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": CHAT[1]}]}
CHAT_ROW = {"id": 0, "messages": CHAT, "prediction": "4", "ground_truth": "4"}


def opened(path: Path, *rows: Any) -> Opened:
    data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return Opened.first_of(Paths([path]))


def seen(path: Path, row: Any, *graders: str) -> SeenRows | None:
    return recognise(opened(path, row), [GraderSpec(grader) for grader in graders], Settings())


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        (CHAT_ROW, "custom_id=id,agent_response=prediction,expected_output=ground_truth"),
        (
            {"conversations": SHARED, "answer": "4"},
            "custom_id=@row,agent_response=conversations.-1.value,expected_output=answer",
        ),
        (
            {"messages": CHAT, "gold": "4"},
            "custom_id=@row,agent_response=messages.-1.content,expected_output=gold",
        ),
        (
            {"request": {"messages": CHAT[:1]}, "output": "4", "expected": "4"},
            "custom_id=@row,agent_response=output,expected_output=expected",
        ),
        (
            {"id": "r", "request": {"messages": CHAT[:1]}, "response": COMPLETION, "gold": "4"},
            "custom_id=id,agent_response=response.choices.0.message.content,expected_output=gold",
        ),
        (
            {"messages": CHAT[:1], "prediction": "4"},
            "custom_id=@row,agent_response=prediction,expected_output=COLUMN",
        ),
    ],
)
def test_answers_beside_a_conversation_are_proposed_to_graders_of_answers(
    row: dict[str, Any], mapping: str, name: str, tmp_path: Path
) -> None:
    found = seen(tmp_path / name, row, "string-match")
    assert found
    assert found.proposal
    assert found.proposal.text.split(",metadata=")[0] == mapping


@pytest.mark.parametrize("graders", [("loop",), ("string-match", "loop"), ()])
def test_conversations_stay_traces_if_a_grader_needs_traces_or_none_is_named(
    graders: tuple[str, ...], tmp_path: Path
) -> None:
    assert seen(tmp_path / "a.jsonl", CHAT_ROW, *graders) is None


@pytest.mark.parametrize("row", [{"messages": CHAT}, {"id": "t", "messages": CHAT, "model": "m"}])
def test_a_conversation_without_answers_beside_it_is_a_trace(row: Any, tmp_path: Path) -> None:
    assert seen(tmp_path / "a.jsonl", row, "string-match") is None
    assert trace_format(opened(tmp_path / "a.jsonl", row), Settings()) == "OpenAI chat messages"


def test_the_messages_of_a_document_that_is_one_trace_are_not_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(orjson.dumps(CHAT_ROW, option=orjson.OPT_INDENT_2))
    graders = [GraderSpec("string-match")]
    assert recognise(Opened.first_of(Paths([path])), graders, Settings()) is None


def test_cases_have_no_format_of_traces(tmp_path: Path) -> None:
    case = {"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "y"}}
    assert trace_format(opened(tmp_path / "a.jsonl", case), Settings()) is None


def test_a_path_counts_from_the_end_of_a_list_with_a_negative_index() -> None:
    mapping = parse_mapping(["custom_id=@row,a=m.-1.content,b=m.-2.content,c=m.-3.content"])
    assert mapping.case({"m": CHAT}, 1)["inputs"] == {"a": "4", "b": "2+2?"}


PARTS = [{"type": "text", "text": "It is "}, {"type": "text", "text": "4."}]
IN_PARTS = [CHAT[0], {"role": "assistant", "content": PARTS}]
THANKED = [*CHAT, {"role": "user", "content": "Thanks."}]
THOUGHT = {"text": "Two and two ...", "thought": True}
GEMINI = [
    {"role": "user", "parts": [{"text": "2+2?"}]},
    {"role": "model", "parts": [THOUGHT, {"text": "4"}]},
]
RESPONSES = [
    {"type": "reasoning", "summary": []},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is 4."}],
    },
]
LANGCHAIN = [{"type": "human", "content": "2+2?"}, {"type": "ai", "content": "4"}]
LAST = "custom_id=@row,agent_response=last_answer(%s),expected_output=gold"


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize(
    ("conversations", "answers", "hint"),
    [
        ([IN_PARTS], ["It is 4."], ""),
        ([CHAT, IN_PARTS], ["4", "It is 4."], ""),
        ([THANKED], ["4"], "agent_response: in the first row, messages does not end with"),
        (
            [CHAT, THANKED],
            ["4", "4"],
            "agent_response: in 1 of the first 2 rows, messages does not end",
        ),
    ],
    ids=["parts", "a text and parts", "the user last", "the user last in a later row"],
)
def test_the_agents_last_message_is_proposed_if_it_has_parts_or_others_follow(
    conversations: list[Any], answers: list[str], hint: str, name: str, tmp_path: Path
) -> None:
    rows = [{"messages": messages, "gold": "4"} for messages in conversations]
    path = tmp_path / name
    opened(path, *rows)
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(rows[0])
            table.writerows((orjson.dumps(row["messages"]).decode(), row["gold"]) for row in rows)
    found = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert found
    assert found.proposal
    mapping = found.proposal.mapping
    assert mapping
    assert str(mapping) == LAST % "messages"
    assert str(parse_mapping([str(mapping)])) == str(mapping)
    assert [mapping.case(row, 1)["inputs"]["agent_response"] for row in found.rows] == answers
    assert [hint in each for each in found.hints()] == ([True] if hint else [])
    assert "last_answer(messages)" in found.proposal.columns


@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        ({"chat": {"turns": IN_PARTS}, "gold": "4"}, LAST % "chat.turns"),
        ({"prompt": THANKED, "gold": "4"}, "agent_response=COLUMN"),
        ({"messages": CHAT[:1], "gold": "4"}, "agent_response=COLUMN"),
        ({"": THANKED, "gold": "4"}, "agent_response=COLUMN"),
        ({"contents": GEMINI, "gold": "4"}, LAST % "contents"),
        ({"output": RESPONSES, "gold": "4"}, LAST % "output"),
        ({"messages": [*LANGCHAIN, {"type": "human", "content": "Thanks."}], "gold": "4"}, LAST % "messages"),
        ({"id": "1", "dialog": IN_PARTS, "lsg": "4", "note": "easy"}, "agent_response=last_answer(dialog)"),
        ({"messages": THANKED, "gold": "4", "output": "5"}, "agent_response=output"),
    ],
    ids=[
        *("within an object", "a prompt", "no answer", "no name", "Gemini", "Responses", "LangChain"),
        *("no gold", "an answer of its own"),
    ],
)  # fmt: skip
def test_only_a_conversation_with_the_agent_has_its_last_message(
    row: Any, mapping: str, tmp_path: Path
) -> None:
    found = seen(tmp_path / "a.jsonl", row, "string-match")
    assert found
    assert found.proposal
    assert mapping in found.proposal.text


@pytest.mark.parametrize(
    ("messages", "inputs"),
    [
        (CHAT, {"x": "4"}),
        (orjson.dumps(CHAT).decode(), {"x": "4"}),
        (SHARED, {"x": "4"}),
        (THANKED, {"x": "4"}),
        (IN_PARTS, {"x": "It is 4."}),
        ([{"role": "model", "content": ["a", "b", {"type": "output_text", "text": "c"}]}], {"x": "abc"}),
        ([*CHAT, {"role": "assistant", "content": None, "tool_calls": []}], {"x": None}),
        ([*CHAT, {"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}], {"x": None}),
        ([*CHAT, {"role": "assistant", "content": [{"type": ["text"], "text": "x"}, 5, "4"]}], {"x": "4"}),
        (GEMINI, {"x": "4"}),
        (RESPONSES, {"x": "It is 4."}),
        (LANGCHAIN, {"x": "4"}),
        ([{"type": "ai", "data": {"content": "4"}}], {"x": "4"}),
        (CHAT[:1], {}),
        ("no conversation", {}),
    ],
)  # fmt: skip
def test_the_last_answer_of_a_conversation_is_the_text_of_the_agents_last_message(
    messages: Any, inputs: dict[str, Any]
) -> None:
    mapping = parse_mapping(["custom_id=@row,x=last_answer(messages)"])
    assert mapping.case({"messages": messages}, 1)["inputs"] == inputs
    assert mapping.case({"last_answer(messages)": "y"}, 1)["inputs"] == {"x": "y"}


def _own(author: Any, text: str) -> dict[str, Any]:
    return {"author": author, "body": {"text": text}}


TURNS = [_own("human", "2+2?"), _own("bot", "4")]


@pytest.mark.parametrize(
    ("turns", "path", "hint"),
    [
        ([TURNS], "turns.-1.body.text", ""),
        ([[_own({"role": "User"}, "2+2?"), _own({"role": "Agent"}, "4")]], "turns.-1.body.text", ""),
        ([[*TURNS, _own("human", "Thanks.")]], "COLUMN", ""),
        (
            [TURNS, [*TURNS, _own("human", "Thanks.")]],
            "turns.-1.body.text",
            "agent_response: in 1 of the first 2 rows, turns does not end with an entry of the agent",
        ),
        ([TURNS[1:]], "turns.0.body.text", ""),
        ([[_own("Ada", "2+2?"), _own("Bob", "4")]], "turns.0.body.text", ""),
    ],
    ids=["author", "object", "human last", "human last in a later row", "no human", "unknown authors"],
)  # fmt: skip
def test_what_a_human_wrote_in_a_list_of_turns_is_not_proposed_as_the_answer(
    turns: list[Any], path: str, hint: str, tmp_path: Path
) -> None:
    rows = [{"id": f"c{number}", "turns": each, "gold": "4"} for number, each in enumerate(turns)]
    file = opened(tmp_path / "a.jsonl", *rows)
    found = recognise(file, [GraderSpec("string-match")], Settings())
    assert found
    assert found.proposal
    assert f"agent_response={path}," in f"{found.proposal.text},"
    assert [hint] == [each for each in found.hints() if "does not end" in each] or not hint


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (TURNS[:1], "(its keys: author, body) is mapped as turns.-1.KEY"),
        (["2+2?", "4"], "the last entry is mapped as turns.-1"),
        ("4", "takes a list of messages, and recognises the agent's by role or from: ai, assistant, bot,"),
    ],
)  # fmt: skip
def test_a_last_answer_in_a_list_without_known_authors_says_which_are_known(
    turns: Any, said: str
) -> None:
    mapping = parse_mapping(["custom_id=@row,agent_response=last_answer(turns)"])
    with pytest.raises(
        MappingError, match="no row has a message of the agent in 'turns'"
    ) as caught:
        refuse_missing_paths(mapping, [{"turns": turns}], "a.jsonl")
    assert said in str(caught.value.hint)
    with pytest.raises(MappingError, match="no row has 'turns', which agent_response is mapped to"):
        refuse_missing_paths(mapping, [{"turn": turns}], "a.jsonl")


def test_the_expected_answer_beside_a_conversation_is_guessed_from_what_agrees_with_the_last_answer() -> (
    None
):
    rows = [
        {
            "dialog": [CHAT[0], {"role": "assistant", "content": [{"type": "text", "text": text}]}],
            "lsg": text,
            "note": f"easy {number}",
        }
        for number, text in enumerate(("four or so", "a blue sky", "no idea at all"))
    ]
    given = {"agent_response": "last_answer(dialog)"}
    found = propose(rows, ("agent_response", "expected_output"), given=given)
    assert found.fields["expected_output"] == "lsg"
    assert found.guessed == ("expected_output",)
