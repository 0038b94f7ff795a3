"""Page for a new batch: choose graders, drop a file or paste lines, preview the first cases, submit."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import InputError, MappingError, NoGraderError, WeighbridgeError
from weighbridge_producer.client.redis_client import RedisClient
from weighbridge_producer.input.files.folder_files import (
    OUR_RESULTS,
    endings_of,
    endings_sent_of_folders,
)
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.unmapped_rows import JOIN_HINT
from weighbridge_producer.pages import parquet_parts
from weighbridge_producer.pages.column_pickers import Picks
from weighbridge_producer.pages.forms import Entries
from weighbridge_producer.pages.grader_selection import ChosenGraders
from weighbridge_producer.pages.input_head import HEAD_BYTES, Head
from weighbridge_producer.pages.parquet_parts import is_parquet_name
from weighbridge_producer.pages.preview import preview_of
from weighbridge_producer.pages.preview_builder import Preview
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import Submitter
from weighbridge_producer.service.problems import Problem, ProblemError, problem_of
from weighbridge_producer.service.service import Served
from weighbridge_producer.service.uploads.form import Form, NextFile
from weighbridge_producer.service.uploads.request_bodies import with_body_timeout
from weighbridge_producer.service.uploads.submission import check_mapping
from weighbridge_producer.service.uploads.submission_params import AUTO, SubmissionParams
from weighbridge_producer.service.uploads.upload import FORM, receive_batch

if TYPE_CHECKING:
    from collections.abc import Callable

router = APIRouter(prefix="/new")
_PASTED = "pasted lines"
_BOTH = "there are both pasted lines and a file"
_PROBLEMS_SHOWN = 5
_OF_OTHER_FIELDS = (MappingError, NoGraderError)  #: errors that the graders or the mapping correct


class NewBatchForm:
    """The form, empty or filled in."""

    def __init__(self, catalogue: list[dict[str, Any]]) -> None:
        self._catalogue = catalogue
        self.graders = ChosenGraders.of(catalogue, {})
        self.text = ""
        self.written_mapping = ""  #: from the text field, instead of the picks
        self.picks = Picks({})
        self.is_strict = False
        self.file_size = 0  #: of the first file, reported by the browser; 0 if unknown
        self.files = 0  #: number of files, reported by the browser; 0 if unknown
        self.folder: str | None = (
            None  #: name of the folder that the files are in, empty if of several
        )
        self.is_submitting = False  #: True if this is the last preview before the upload

    @property
    def mapping(self) -> str:
        """The mapping, from the text field or the column pickers."""
        return self.written_mapping or self.picks.text

    def fill(self, fields: list[tuple[str, str]]) -> None:
        """Fill in the form from its entries."""
        entries: Entries = {}
        for name, value in fields:
            # Browsers send the lines of a text area with CRLF.
            entries.setdefault(name, []).append(value.replace("\r\n", "\n"))
        self.graders = ChosenGraders.of(self._catalogue, entries)
        self.text = entries.get("text", [""])[-1]
        self.written_mapping = entries.get("mapping", [""])[-1].strip()
        self.picks = Picks.of(entries)
        self.is_strict = "strict" in entries
        self.is_submitting = "submitting" in entries
        self.file_size = _number(entries.get("file_size", [""])[-1])
        self.folder = entries["folder"][-1] if "folder" in entries else None
        self.files = _number(entries.get("file_count", [""])[-1])

    def read(self, fields: list[tuple[str, str]], file_name: str) -> tuple[SubmissionParams, bytes]:
        """Return the parameters in a form's fields, and the pasted lines; ProblemError if they are invalid."""
        self.fill(fields)
        has_text = bool(self.text.strip())
        if has_text and file_name:
            raise _refused(_BOTH, "remove one of them")
        if not has_text and not file_name:
            raise _refused("there are no cases", "choose a file, or paste some lines")
        params = self.params(self.folder or file_name or _PASTED)
        if self.folder and not has_text:
            return replace(params, folder=self.folder, first_file=file_name), b""
        if self.files != 1 and not has_text:
            # Without scripts the number is unknown, and there may be several.
            more = f" and {self.files - 1:,} more" if self.files else ""
            source = params.source + more
            params = replace(params, source=source, folder=self.folder, first_file=file_name)
        return params, self.text.encode(errors="replace")

    def params(self, source: str) -> SubmissionParams:
        """Return the form's parameters for a batch; raises ProblemError or WeighbridgeError if they are invalid."""
        if problems := self.graders.problems:
            raise _refused(
                "; ".join(problems[:_PROBLEMS_SHOWN]), "correct the grader's configuration"
            )
        fields = [("graders", self.graders.as_json()), ("strict", str(self.is_strict).lower())]
        fields.append(("mapping", self.mapping or AUTO))
        return SubmissionParams.of(fields, source)


@router.get("")
@router.get("/preview")
def show_form(request: Request, service: Served, _: Submitter) -> HTMLResponse:
    """Show the empty form."""
    return _page(request, NewBatchForm(service.client.graders()))


@router.post("")
async def submit(request: Request, service: Served, identity: Submitter) -> Response:
    """Submit the form's cases while they arrive, and redirect to the batch."""
    form = NewBatchForm(service.client.graders())
    try:
        _check_is_form(request)
        batch = await receive_batch(request, service, identity, form.read)
    except (WeighbridgeError, ProblemError) as error:
        return _page(request, form, error=error)
    return RedirectResponse(f"/batches/{batch.id}", 303)


@router.post("/preview")
async def look(request: Request, service: Served, identity: Submitter) -> HTMLResponse:
    """Show a preview of the form's input: the first cases, and the problems of its first lines."""
    form = NewBatchForm(service.client.graders())
    try:
        _check_is_form(request)
        with service.arriving_bytes.account(identity.project) as take:
            beginning = await _beginning(request, take)
            # Limited to a few at a time, because hostile input can be slow.
            with await service.previews.turn(identity.project):
                preview = await run_in_threadpool(_preview, form, *beginning, service.client)
    except (WeighbridgeError, ProblemError) as error:
        return _page(request, form, error=error)
    return _page(request, form, preview=preview)


async def _beginning(
    request: Request, take: Callable[[int], None]
) -> tuple[list[tuple[str, str]], str, bytes]:
    """Return a form's fields, its file's name, and the first bytes of the file, one over the limit if it is longer."""
    reading = Form(request.headers["content-type"], takes_any_field=True)
    head = bytearray()
    async with with_body_timeout():
        async for piece in request.stream():
            take(len(piece))
            found = reading.feed(piece)
            of_first = [*takewhile(lambda part: not isinstance(part, NextFile), found)]
            head += b"".join(part for part in of_first if isinstance(part, bytes))
            is_enough = len(head) > _most_bytes(reading.file_name or "")
            if is_enough or len(of_first) < len(found):
                break
    return reading.fields, reading.file_name or "", bytes(head)


def _most_bytes(name: str) -> int:
    """Return how much of a file is taken for its preview; of Parquet, its beginning and its end."""
    if is_parquet_name(name):
        return parquet_parts.HEAD_BYTES + parquet_parts.END_BYTES
    return HEAD_BYTES


def _head_of(name: str, content: bytes, file_size: int) -> Head:
    most = _most_bytes(name)
    if is_parquet_name(name):
        # Without scripts, only the beginning of a larger file arrives.
        is_cut = content.endswith(b"PAR1") and file_size > len(content) == most
        is_whole = len(content) <= most and not is_cut
        return Head(name, content[:most], is_whole, file_size if is_cut else 0)
    return Head(name, content[:most], max(len(content), file_size) <= most)


def _preview(
    form: NewBatchForm, fields: list[tuple[str, str]], name: str, head: bytes, client: RedisClient
) -> Preview:
    form.fill(fields)
    has_text = bool(form.text.strip())
    has_both = has_text and bool(name)
    if has_both and form.is_submitting:
        raise _refused(_BOTH, "remove one of them")
    if has_text:
        name, head = _PASTED, form.text.encode(errors="replace")
    params = form.params(name)
    written = params.mapping if form.written_mapping else None
    if form.is_submitting and written:
        check_mapping(written, params.graders)
    elsewhere = {grader for worker in client.workers() for grader in worker.graders}
    beginning = _head_of(name, head, form.file_size)
    preview = preview_of(beginning, params.graders, client.settings, elsewhere, written, form.picks)
    if form.is_submitting and preview.columns and not written:
        _check_picks(form.picks, preview, params)
    if form.is_submitting and preview.names_no_grader:
        raise _refused(
            "none of the first lines names a grader, and none is chosen", "choose a grader"
        )
    if form.files > 1 and not has_text:
        preview.note = f"This is the first of {form.files:,} files. All are submitted as one batch."
    if has_both:
        preview.note = f"{_BOTH}: remove one of them. Only the lines are previewed."
    return preview


def _check_picks(picks: Picks, preview: Preview, params: SubmissionParams) -> None:
    """Raise ProblemError or MappingError if the columns of an input are not the chosen ones."""
    elsewhere = f"if another file has the value, {JOIN_HINT}" if preview.shape else ""
    if not params.mapping:
        what = f"is {preview.shape}" if preview.shape else "has columns of its own"
        hint = "choose the column for each field of a case"
        raise _refused(f"the input {what}", "; ".join(filter(None, (hint, elsewhere))))
    check_mapping(params.mapping, params.graders, elsewhere)
    if preview.columns and not preview.columns.keep(picks):
        raise _refused(
            "the input has other columns than the chosen ones",
            "preview it again, and check the column for each field of a case",
        )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


def _check_is_form(request: Request) -> None:
    if not request.headers.get("content-type", "").lower().startswith(FORM):
        raise ProblemError(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "this address accepts only the form of its page",
            "send cases to POST /api/batches",
        )


def _refused(what: str, hint: str) -> ProblemError:
    return ProblemError(422, "FORM_FIELD", what, hint)


def _problem(error: WeighbridgeError | ProblemError) -> Problem:
    return error.problem if isinstance(error, ProblemError) else problem_of(error)


def _page(
    request: Request,
    form: NewBatchForm,
    *,
    preview: Preview | None = None,
    error: WeighbridgeError | ProblemError | None = None,
) -> HTMLResponse:
    problem = _problem(error) if error else None
    return page(
        *(request, "new.html"),
        status_code=problem.status if problem else 200,
        headers=dict(problem.headers) if problem else None,
        form=form,
        preview=preview,
        problem=problem,
        problem_is_of_cases=isinstance(error, InputError)
        and not isinstance(error, _OF_OTHER_FIELDS),
        preview_bytes=f"{HEAD_BYTES} 0",  # of the beginning and of the end
        folder_endings=endings_of(ReadAs.ANYTHING),
        sent_endings=endings_sent_of_folders(),
        not_in_folders=OUR_RESULTS,
        parquet_bytes=f"{parquet_parts.HEAD_BYTES} {parquet_parts.END_BYTES}",
    )
