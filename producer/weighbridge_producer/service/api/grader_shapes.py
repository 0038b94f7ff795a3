"""Response schemas of graders for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from weighbridge.graders.base import Verdict


class RequirementsShape(BaseModel):
    """What a grader needs from a trace; empty for a grader of outputs."""

    step_types: list[str]
    capabilities: list[str] = Field(
        description="of tool_calls, token_usage, timing, cost, tool_definitions"
    )


class ExampleShape(BaseModel):
    """A job that a grader can grade."""

    inputs: dict[str, Any]
    config: dict[str, Any] | None


class GraderShape(BaseModel):
    """A grader's entry in the catalogue."""

    id: str
    name: str
    description: str
    version: int = Field(description="raised whenever any verdict could change")
    config_schema: dict[str, Any] = Field(description="a JSON Schema")
    inputs_schema: dict[str, Any] = Field(description="a JSON Schema")
    requirements: RequirementsShape
    example: ExampleShape


class CatalogueShape(BaseModel):
    """All graders installed on the service."""

    graders: list[GraderShape]


class EvidenceShape(BaseModel, extra="allow"):
    """One check that contributes to a verdict."""

    check: str
    description: str
    passed: bool
    step_ids: list[str]


class JudgementShape(BaseModel):
    """A grader's result."""

    passed: bool
    score: float = Field(ge=0, le=1)
    verdict: Verdict
    details: dict[str, Any]
    evidence: list[EvidenceShape] = Field(min_length=1)


class TrialShape(BaseModel):
    """The result of a trial."""

    grader: str
    grader_version: int
    config_digest: str = Field(
        description="the first 16 digits of the SHA-256 over the config with its defaults filled in"
    )
    status: Literal["graded"]
    result: JudgementShape
    receipt: str = Field(
        description="SHA-256 over the grader, its config, the inputs and the result"
    )
