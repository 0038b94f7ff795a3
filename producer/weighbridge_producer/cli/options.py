"""Options common to several commands, and the parsing of graders on the command line."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from weighbridge.errors import ConfigError, UnknownGraderError
from weighbridge.jobs.grader_spec import GraderSpec, parse_specs
from weighbridge.settings import Settings, read_settings
from weighbridge_producer.cli.completed_values import batch_ids, grader_ids
from weighbridge_producer.reports.forms import FORMS, output_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from weighbridge_producer.client.client import Client
    from weighbridge_producer.input.source import Source


def utf8(text: str | None) -> str | None:
    """Validate that an option's value is UTF-8, as servers and results require."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise typer.BadParameter("it is not UTF-8") from None
    return text


def all_utf8(texts: list[str] | None) -> list[str] | None:
    """Validate that all values of a repeatable option are UTF-8."""
    for text in texts or []:
        utf8(text)
    return texts


CASES_HELP = (
    "Cases, bare traces, or rows of your own: files (JSONL, JSON, CSV, TSV, Parquet, Arrow, .eval, SQLite databases of agents; plain, .gz or .zst), folders, quoted patterns, "
    "or - for a pipe. In a folder or pattern, files ending in .results.jsonl are skipped."
)
RedisUrl = Annotated[
    str | None,
    typer.Option(
        "--redis-url",
        metavar="URL",
        help="The Redis server to use. Default: WEIGHBRIDGE_REDIS_URL; prefer it for a URL with a password, because `ps`"
        " shows arguments.",
        callback=utf8,
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        "--redis-url",
        metavar="URL",
        help="A `weighbridge serve` (http://, https://), with its key in WEIGHBRIDGE_API_KEY, or a Redis server (redis://)."
        " Default: WEIGHBRIDGE_URL, else WEIGHBRIDGE_REDIS_URL; prefer these for a URL with a password, because `ps` shows"
        " arguments.",
        callback=utf8,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]
Project = Annotated[
    str | None,
    typer.Option(
        "--project", metavar="P", help="The project that the batch belongs to.", callback=utf8
    ),
]
BatchId = Annotated[
    str,
    typer.Argument(metavar="BATCH", help="A batch id.", callback=utf8, autocompletion=batch_ids),
]
Graders = Annotated[
    list[str] | None,
    typer.Option(
        "--grader",
        "-g",
        metavar="[LABEL=]ID",
        help="A grader for cases that name none; repeatable.",
        callback=all_utf8,
        autocompletion=grader_ids,
    ),
]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        "-c",
        metavar="[LABEL.]KEY=VALUE",
        help="A grader's setting, the value as JSON or plain text, of a list or an object also as @FILE; or a whole config as a JSON object. Repeatable.",
        callback=all_utf8,
    ),
]
GradersFile = Annotated[
    str | None,
    typer.Option(
        "--graders",
        metavar="FILE",
        help="A YAML or JSON file that names graders, with their configs and labels.",
        callback=utf8,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Check every line first, and refuse the input if one is invalid."
    ),
]
_ENDINGS = ", ".join(f"{form.endings[0]} ({form.what})" for form in FORMS.values())
OUTPUT_HELP = (
    f"{_ENDINGS}, also with .gz or .zst; - for JSON Lines on standard output; or FORM=FILE, as in md=- or junit=report,"
    f" with one of {', '.join(FORMS)}. Repeatable."
)
ByCase = Annotated[
    bool,
    typer.Option(
        "--cases", help="In .csv and .tsv, write one row per case, with columns for each label."
    ),
]
WithCases = Annotated[
    bool,
    typer.Option(
        "--with-cases",
        help="In .jsonl, add to each result line the case that it belongs to, so that the file can be graded again.",
    ),
]


def check_case_options(
    outputs: Iterable[str], *, by_case: bool = False, with_cases: bool = False
) -> None:
    """Refuse --cases and --with-cases where no output, or a table among them, would ignore it."""
    forms = [output_of(output).form for output in outputs]
    of_cases = {form.has_case_rows for form in forms}
    if by_case and (False in of_cases or True not in of_cases):
        why = (
            "Parquet has no rows of cases"
            if False in of_cases
            else "no output is a .csv or .tsv file; name one with -o"
        )
        raise typer.BadParameter(why, param_hint="--cases")
    if with_cases and all(form.name != "jsonl" for form in forms):
        raise typer.BadParameter(
            "no output is a .jsonl file; name one with -o", param_hint="--with-cases"
        )


ONE_PER_CORE = "one per CPU core"  #: the default number of worker processes, in help texts


def client(url: str | None) -> Client:
    """Return a client for the service or Redis server given on the command line or in the environment.

    The connection to Redis is checked here; the first request to an unavailable service fails within seconds.
    """
    from weighbridge_producer.client.address import is_service
    from weighbridge_producer.client.client import Client

    made = Client(url, settings=read_settings())
    if not is_service(made.url):
        from weighbridge_producer.client.connection_check import check_connection

        check_connection(made.url)
    return made


def specs(
    graders: list[str] | None, configs: list[str] | None, file: str | None = None
) -> tuple[GraderSpec, ...]:
    """Combine `--graders`, `--grader` and `--config`; the last overrides settings in the file."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    if file:
        from weighbridge_producer.input.graders_file import read_graders

        found = {spec.label: (spec.grader, dict(spec.config or {})) for spec in read_graders(file)}
    for name in graders or []:
        label, _, grader = name.rpartition("=")
        if found.setdefault(label or grader, (grader, {}))[0] != grader:
            raise ConfigError(
                f"two graders are labelled {label or grader!r}", "give one of them another label"
            )
    for text in configs or []:
        from weighbridge_producer.input.setting_files import with_files

        label, settings = _config(text, list(found))
        grader, config = found[label]
        config.update(with_files(grader, settings, ""))
    return parse_specs(
        [GraderSpec(grader, config or None, label) for label, (grader, config) in found.items()]
    )


def check_here(graders: tuple[GraderSpec, ...], file: str | None = None) -> None:
    """Check that graders are installed here, and that their configurations are valid; see `naming_the_line`."""
    from weighbridge.graders.registry import default_registry

    with naming_the_line(file):
        for spec in graders:
            config = None if spec.config is None else dict(spec.config)
            default_registry().create(spec.grader, config)


@contextmanager
def naming_the_line(file: str | None) -> Iterator[None]:
    """Add the line of the graders file to an error about an unknown grader."""
    try:
        yield
    except UnknownGraderError as error:
        if file:
            from weighbridge_producer.input.graders_file import line_naming

            if line := line_naming(file, error.grader_id):
                error.fault = error.fault.at(f"{file}, line {line}")
        raise


def _config(text: str, labels: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the label that a `--config` applies to, and its settings."""
    if text.lstrip().startswith("{"):
        return _only(labels, text), _object(text)
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(
            f"--config {text!r} has no value", "write KEY=VALUE, LABEL.KEY=VALUE or a JSON object"
        )
    if name in labels:
        return name, _object(value)
    label, dot, key = name.partition(".")
    if dot and label in labels:
        return label, {key: _value(value)}
    return _only(labels, text), {name: _value(value)}


def _only(labels: list[str], text: str) -> str:
    if len(labels) != 1:
        known = ", ".join(labels) or "none"
        raise ConfigError(
            f"--config {text!r} names no grader of this command ({known})",
            f"write {labels[0]}.KEY=VALUE" if labels else "name one with --grader or --graders",
        )
    return labels[0]


def _object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ConfigError(
            f"--config {text!r} is not JSON: {error}", "write KEY=VALUE or a JSON object"
        ) from None
    if not isinstance(value, dict):
        raise ConfigError(
            f"--config {text!r} is not a JSON object", "write KEY=VALUE or a JSON object"
        )
    return value


def _value(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def check_graded(source: Source, graders: tuple[GraderSpec, ...]) -> tuple[GraderSpec, ...]:
    """Reject an input without any grader, if the input can be read twice; return the graders of the first case that names some."""
    from weighbridge_producer.submit.missing_grader import refuse_ungraded

    return refuse_ungraded(source) if not graders and source.rereadable else ()


def readable(
    source: Source, graders: tuple[GraderSpec, ...], settings: Settings, *, strict: bool
) -> AbstractContextManager[Source]:
    """Return a context with the source; with `strict`, the whole input is validated first."""
    if not strict:
        return nullcontext(source)
    from weighbridge_producer.submit.strict_submission import checked

    return checked(source, graders, settings)
