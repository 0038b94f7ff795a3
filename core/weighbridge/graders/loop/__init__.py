"""Whether an agent's run is stuck in a loop."""

from weighbridge.graders.loop.config import LoopConfig
from weighbridge.graders.loop.grader import LoopGrader

__all__ = ["LoopConfig", "LoopGrader"]
