"""Whether an agent's run is stuck in a loop."""

from weighbridge.graders.loop.grader import LoopConfig, LoopGrader

__all__ = ["LoopConfig", "LoopGrader"]
