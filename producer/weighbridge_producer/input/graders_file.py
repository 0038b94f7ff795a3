"""A graders file: YAML or JSON with grader ids, configurations and labels.

For example:

    graders:
      - tool-schema
      - grader: budget
        label: cheap
        config:
          max_tokens: 5000

A setting that is a list or an object may name a file with it, relative to the graders file: `tools: "@tools.json"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from weighbridge.errors import ConfigError, ConfigTypeError, GraderSpecError, UnknownGraderError
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.grader_spec import GraderSpec, parse_specs
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.input.setting_files import with_files
from weighbridge_producer.input.yaml_file import YamlFile, key_text, line_in

_SHAPE = "write a list of grader ids, or of {grader, config, label}, under `graders:`"


def read_graders(path: str | Path) -> tuple[GraderSpec, ...]:
    """Return the graders in a file.

    Raises ConfigError, with the line number, if the file is invalid. Graders are not required to be installed here.
    """
    return _GradersReader(str(path)).read()


def line_naming(path: str | Path, grader_id: str) -> int | None:
    """Return the number of the line in a graders file that names a grader; None if there is none."""
    return _GradersReader(str(path)).line_naming(grader_id)


class _GradersReader:
    def __init__(self, name: str) -> None:
        self._file = YamlFile(name, "graders file", ConfigError)

    def line_naming(self, grader_id: str) -> int | None:
        listed = self._listed()
        for index, entry in enumerate(listed):
            if entry == grader_id:
                return line_in(listed, index)
            if isinstance(entry, CommentedMap) and entry.get("grader") == grader_id:
                return line_in(entry, "grader")
        return None

    def _listed(self) -> CommentedSeq:
        root = self._file.parsed()
        listed = root
        if isinstance(root, CommentedMap):
            for key in root:
                if key != "graders":
                    meant = did_you_mean(closest(str(key), ["graders"]))
                    self._file.fail(f"unknown key {str(key)[:80]!r}{meant}", root, key, _SHAPE)
            listed = root.get("graders")
        if isinstance(listed, str):
            instead = f"{'graders: ' if isinstance(root, CommentedMap) else ''}[{listed[:80]}]"
            self._file.fail("the graders are not a list", root, "graders", f"write {instead}")
        if not isinstance(listed, CommentedSeq) or not listed:
            self._file.fail("there is no list of graders", root, hint=_SHAPE)
        return listed

    def read(self) -> tuple[GraderSpec, ...]:
        listed = self._listed()
        specs = [self._spec(listed, index) for index in range(len(listed))]
        try:
            return parse_specs(specs)
        except GraderSpecError as error:
            self._file.fail_at(line_in(listed, error.path[1]), error.message, error.hint)

    def _spec(self, listed: CommentedSeq, index: int) -> GraderSpec:
        entry = listed[index]
        try:
            spec = GraderSpec.parse(self._file.plain(entry))
        except GraderSpecError as error:
            line = _line_of(entry, error.path) or line_in(listed, index)
            self._file.fail_at(line, error.message, error.hint or _SHAPE)
        try:
            if spec.config is not None:
                folder = Path(self._file.name).parent
                spec = replace(spec, config=with_files(spec.grader, spec.config, folder))
            default_registry().create(
                spec.grader, None if spec.config is None else dict(spec.config)
            )
        except UnknownGraderError:
            return spec
        except (ConfigError, ConfigTypeError) as error:
            line = _line_of(entry, ("config", *error.path)) or line_in(listed, index)
            self._file.fail_at(line, error.message)
        return spec


def _line_of(node: Any, path: Sequence[str | int]) -> int | None:
    """Return the line number of the node at a path, or of its closest existing ancestor."""
    line = None
    for key in path:
        if isinstance(node, CommentedMap):
            written = next((name for name in node if key_text(name) == str(key)), None)
        elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
            written = key
        else:
            break
        if written is None:
            break
        line, node = line_in(node, written), node[written]
    return line
