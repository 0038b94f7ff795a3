"""Images in messages: equal ones have equal marks, and ones without their data are told as such."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader
from weighbridge.traces import read_trace
from weighbridge.traces.images import OMITTED, image_mark, is_omitted

DATA = "iVBORw0KGgoAAAANSUhEUgAA"
FORMS = {
    "Anthropic": lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    "OpenAI": lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    "OpenAI Responses": lambda data: {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
    "computer use": lambda data: {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{data}"},
    "MCP": lambda data: {"type": "image", "data": data, "mimeType": "image/png"},
    "Gemini": lambda data: {"inlineData": {"mimeType": "image/png", "data": data}},
}  # fmt: skip


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


def test_images_have_equal_marks_if_and_only_if_they_are_equal(form):
    mark = image_mark(form(DATA))
    assert mark.startswith("[image ")
    assert mark == image_mark(form(DATA))
    assert mark != image_mark(form(f"{DATA}B"))


@pytest.mark.parametrize("data", ["", "...", "<omitted>", "[base64 image removed]", "REDACTED"])
def test_an_image_without_its_data_is_told_as_such(form, data):
    assert image_mark(form(data)) == OMITTED
    assert is_omitted([form(data), form(data)])
    assert not is_omitted([form(data), form(DATA)])


@pytest.mark.parametrize(
    "part",
    [{"type": "text", "text": "an image"}, {"type": "file", "file_id": "file-1"}, {}, {"type": 7}],
)
def test_other_parts_have_no_mark(part):
    assert image_mark(part) == ""
    assert not is_omitted(part)


@pytest.mark.parametrize("nested", ["source", "image", "inlineData"])
def test_a_part_of_any_depth_is_read_in_bounded_time(nested):
    part = {"type": "image", "data": DATA}
    for _ in range(10_000):
        part = {nested: part}
    assert image_mark(part) == ""


def looks(results):
    """A conversation in which the model takes a screenshot again and again."""
    messages = [{"role": "user", "content": "Open the settings."}]
    for number, shown in enumerate(results):
        call = {"type": "tool_use", "id": f"t{number}", "name": "computer", "input": {"action": "screenshot"}}  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": shown}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return LoopGrader(config={}).grade(read_trace({"messages": messages}))["verdict"]


def test_screenshots_are_compared_with_the_text_beside_them():
    text, image = {"type": "text", "text": "Screenshot taken."}, FORMS["Anthropic"]
    assert looks([[text, image(f"{DATA}{number}")] for number in range(5)]) == "pass"
    assert looks([[text, image(DATA)]] * 5) == "fail"
    assert looks([[text, image("<omitted>")]] * 5) == "pass"
    assert looks([[text]] * 5) == "fail"
