"""Metadata in the lines of a Claude Code session: its folder, its branch, the version and the model."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import object_of, string_of

#: Names of the metadata, by the field of a line.
_FIELDS = {
    "cwd": "cwd",
    "gitBranch": "git_branch",
    "version": "version",
    "claude_code_version": "version",  #: field of the first line of a run
}
_MODELS_LIMIT = 20
_NO_MODEL = "<"  #: prefix of `model` in answers that Claude Code wrote itself


class SessionFacts:
    """Collects the first value of each fact, and the models of the session's own answers."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}
        self._models: dict[str, None] = {}

    def read(self, line: dict[str, Any], *, is_own: bool) -> None:
        """Read a line; the model of a sub-agent's line is ignored."""
        for field, name in _FIELDS.items():
            if name not in self._found and (said := string_of(line.get(field))):
                self._found[name] = said
        message = object_of(line.get("message"))
        model = string_of(message.get("model")) or _NO_MODEL
        is_answer = message.get("role") == "assistant" and not model.startswith(_NO_MODEL)
        if is_own and is_answer and len(self._models) < _MODELS_LIMIT:
            self._models[model] = None

    def metadata(self) -> dict[str, Any]:
        """Return the metadata; several models are a list, in the order of their first answers."""
        models = [*self._models]
        model = models[0] if len(models) == 1 else models
        return {**({"model": model} if models else {}), **self._found}
