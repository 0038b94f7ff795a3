"""Whether a run stayed within limits on what it consumed."""

from weighbridge.graders.budget.grader import BudgetConfig, BudgetGrader

__all__ = ["BudgetConfig", "BudgetGrader"]
