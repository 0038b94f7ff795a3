"""Arguments of a hand-over: the reason for it is a remark, and what is handed over is not."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.history.essential_arguments import normalized


@pytest.mark.parametrize("tool", ["transfer_to_billing", "delegate"])
def test_the_reason_for_a_hand_over_is_left_out(tool):
    assert normalized({"agent": "b", "reason": "It is late."}, tool) == {"agent": "b"}
    assert normalized({"reason": "It is late."}, tool) == {}


@pytest.mark.parametrize("key", ["goal", "purpose", "intent", "task"])
def test_the_work_that_is_handed_over_is_kept(key):
    given = {"agent": "b", key: "Write the parser."}
    assert normalized(given, "delegate") == given
