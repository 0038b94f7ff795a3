"""Submission of an upload's cases in a thread while they arrive."""

from __future__ import annotations

import asyncio
import io
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from typing_extensions import override

from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    ChunkConflictError,
    MappingNeededError,
    NoCasesError,
    NoGraderError,
    ServerError,
    WeighbridgeError,
)
from weighbridge.text import shorten
from weighbridge_producer.client.batch import check_same_graders
from weighbridge_producer.input.annotated_lines import read_annotated
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.kept_streams import KeptStream
from weighbridge_producer.input.files.lines import StreamLines
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.expected_answers import with_accepted_answers
from weighbridge_producer.input.missing_columns import refuse_missing_columns
from weighbridge_producer.input.recognition import begins_document, recognise
from weighbridge_producer.input.rows.row_formats import beginning_of, table_format
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES
from weighbridge_producer.input.source import Source, Streams
from weighbridge_producer.input.unmapped_rows import (
    MAPPING_HINT,
    refuse_unmapped,
    table_name,
    unmapped,
)
from weighbridge_producer.service.access.auth import resumable_batch
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.uploads.body_stream import PeekedStream
from weighbridge_producer.service.uploads.folder_upload import mapping_of_folder, received_folder
from weighbridge_producer.service.uploads.idempotency import HeldKey, other_content
from weighbridge_producer.submit.mapped_inputs import check_known_inputs, check_needed_inputs
from weighbridge_producer.submit.missing_grader import refusing_ungraded
from weighbridge_producer.submit.strict_submission import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path
    from typing import BinaryIO

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge.store import Durability
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.source import Cases
    from weighbridge_producer.input.source_lines import SourceLine
    from weighbridge_producer.service.access.auth import Identity
    from weighbridge_producer.service.limits.slots import Slot
    from weighbridge_producer.service.service import Service
    from weighbridge_producer.service.uploads.body_stream import BodyStream
    from weighbridge_producer.service.uploads.submission_params import SubmissionParams


_LOOK_SECONDS = 0.5  #: between checks whether a waiting upload is still alive
_NOTE_WIDTH = 1000
CLOSE = {"Connection": "close"}  #: otherwise the rest of the body would be read and discarded


def check_mapping(
    mapping: FieldMapping, graders: Sequence[GraderSpec], otherwise: str = ""
) -> None:
    """Raise MappingError if a mapping has an input that no grader takes, or lacks one that a grader requires.

    `otherwise` is what else to do about a lacking one.
    """
    check_known_inputs(mapping, graders)
    more = f"; {otherwise}" if otherwise else ""
    check_needed_inputs(mapping, graders, lambda fields: f"add {fields} to the mapping{more}")


class UploadBrokenError(ProblemError):
    """The upload was interrupted."""

    def __init__(self, why: str, status: int = 400, code: str = "UPLOAD_BROKEN") -> None:
        hint = "send it again; with an Idempotency-Key it continues from what has arrived"
        super().__init__(status, code, why, hint, CLOSE)


@dataclass(frozen=True, slots=True)
class Received:
    """Result of an upload."""

    batch: RedisBatch
    durability: Durability
    #: True if an earlier request with the same key had already submitted everything.
    replayed: bool = False


#: Errors after which another request with the same key may continue the upload.
_RESUMABLE = (UploadBrokenError, ServerError)


class UploadSource(Source):
    """The cases of an upload.

    A large line is yielded only while a slot is held for it, because each is copied several times during submission. With
    `asked`, which the error names, reading raises NoGraderError if none of the first cases specifies a grader.
    """

    def __init__(
        self,
        cases: Cases,
        settings: Settings,
        take_slot: Callable[[], Slot],
        mapping: FieldMapping | None,
        *,
        asked: str,
    ) -> None:
        super().__init__(cases, settings, mapping)
        self.on_lines = partial(refusing_ungraded, asked=asked) if asked else None
        self._large_bytes = settings.chunk_limit_bytes
        self._take_slot = take_slot

    @override
    def _limited(self, *, in_blocks: bool) -> Iterator[SourceLine]:
        for read in super()._limited(in_blocks=in_blocks):
            if read.size < self._large_bytes:
                yield read
                continue
            for line in read.lines():
                if line.size < self._large_bytes:
                    yield line
                    continue
                # When the next line is requested, this one has been submitted.
                with self._take_slot():
                    yield line


def uploaded_files(
    stream: BodyStream, first: BinaryIO, first_name: str
) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the name and the bytes of each file of an upload, of which the first may have been begun."""
    yield first_name, first
    while (name := stream.next_file()) is not None:
        yield name, cast("BinaryIO", stream)


def _asked(params: SubmissionParams) -> str:
    """Return what an error says that no grader is named in."""
    return "submission" if params.is_from_client else "request"


def _release_unwanted(waited: Future[Slot]) -> None:
    """Release a slot that is no longer needed."""
    if not waited.cancelled() and not waited.exception():
        waited.result().release()


class UploadSubmission:
    """Submits the cases of an upload in a thread while they arrive."""

    def __init__(
        self,
        service: Service,
        identity: Identity,
        params: SubmissionParams,
        stream: BodyStream,
        held: HeldKey | None,
    ) -> None:
        self._service = service
        self._identity = identity
        self._client = service.client
        self._settings = service.settings
        self._params = params
        self._stream = stream
        self._held = held

    def run(self) -> Received:
        """Submit all cases, and seal the batch."""
        params, stream = self._params, self._stream
        # Authorise before any byte is read.
        project = self._identity.project_for(params.project)
        resumed = self._resumed() if params.resume else None
        if resumed:
            check_same_graders(resumed, params.graders)
        graders = resumed.options().graders if resumed else params.graders
        if params.mapping:
            check_mapping(params.mapping, graders)
        if params.strict:  # otherwise graders are checked when the batch is opened
            self._client.check_graders(params.graders)
        with ExitStack() as kept:
            sent: Cases
            if params.folder is None:
                mapping, body = self._rows_in(resumed)
                sent = body
                if params.first_file:
                    sent = Streams(stream.name, uploaded_files(stream, body, params.first_file))
            else:
                files = uploaded_files(stream, cast("BinaryIO", stream), params.first_file)
                folder = kept.enter_context(received_folder(params.source, files))
                mapping, sent = self._rows_in_folder(folder), Paths.of([folder])
                self._note_skipped(Source(sent, self._settings, mapping))
            if mapping:
                mapping = with_accepted_answers(mapping, graders)
            cases = sent
            if params.strict:
                source = Source(sent, self._settings, mapping)
                cases = kept.enter_context(checked(source, graders, self._settings))
            batch, begun_before = (resumed, True) if resumed else self._batch(project)
            replayed = begun_before and self._client.store.position(batch.id).sealed
            source = UploadSource(
                *(cases, self._settings, self._large_line),
                None if params.strict else mapping,  # then they are cases already
                asked="" if params.graders or resumed else _asked(params),
            )
            with self._ended_on_error(batch, begun_before=begun_before):
                try:
                    batch.feed(
                        source, resumed=bool(resumed), should_stop=lambda: bool(stream.failure)
                    )
                except NoGraderError as error:
                    self._refuse_ungraded(batch, error)
                if stream.failure:
                    raise stream.failure
            if not (begun_before or batch.status().counts.total):
                self._refuse_empty(batch)
            return Received(batch, batch.confirm(), replayed)

    def _rows_in_folder(self, folder: Path) -> FieldMapping | None:
        """Return the mapping of the rows in a folder; raises what `_rows_in` raises."""
        params, settings = self._params, self._settings
        if not params.mapping:
            return mapping_of_folder(folder, params.graders, settings, params.table)
        first = Opened.all_of(Paths.of([folder]), params.table)[0]
        with first.open() as rows:
            kept = KeptStream(rows)
            refuse_missing_columns(kept, first.name, params.mapping, settings, params.table)
        return params.mapping

    def _note_skipped(self, source: Source) -> None:
        """Add to the batch's metadata which files of the folder are not read."""
        if note := source.skipped_note():
            metadata = {"skipped": shorten(note, _NOTE_WIDTH), **(self._params.metadata or {})}
            self._params = replace(self._params, metadata=metadata)

    def _rows_in(self, resumed: RedisBatch | None) -> tuple[FieldMapping | None, Any]:
        """Return the mapping of the rows in the body, None for cases, and the body from its beginning.

        Raises MappingNeededError or MappingError for rows that could not be graded.
        """
        params, stream = self._params, self._stream
        if params.framed:
            return params.mapping, self._annotated_lines()
        if params.is_recognised:
            peeked = PeekedStream(stream, HEAD_BYTES)
            kept = KeptStream(peeked)
            return self._mapping_of(peeked, kept), kept.rest()
        kept = KeptStream(stream)
        name = params.first_file or stream.name
        if params.mapping:
            refuse_missing_columns(kept, name, params.mapping, self._settings, params.table)
        else:
            graders = resumed.options().graders if resumed else params.graders
            refuse_unmapped(kept, name, graders, self._settings, params.suffix)
        return params.mapping, kept.rest()

    def _mapping_of(self, peeked: PeekedStream, kept: KeptStream) -> FieldMapping | None:
        """Return the mapping for a recognised format, None for cases and traces; MappingNeededError for custom columns."""
        label = self._params.first_file or peeked.name
        form = self._params.table
        beginning = beginning_of(io.BytesIO(peeked.head), self._settings)
        name = table_name(label, beginning, self._params.suffix)
        opened = Opened(name, label, lambda: io.BytesIO(peeked.head), form)
        if len(peeked.head) >= HEAD_BYTES and begins_document(opened, self._settings):
            opened = Opened(name, label, kept.beginning, form)  # its rows may begin far behind
        seen = recognise(opened, self._params.graders, self._settings)
        if seen and seen.mapping:
            return replace(seen.mapping, table=form)
        if seen and seen.proposal:
            raise unmapped(label, seen, self._params.graders)
        if table := table_format(name):
            raise MappingNeededError(label, str(table), MAPPING_HINT)
        return None

    def _large_line(self) -> Slot:
        """Wait for a slot for a large line, as long as the upload is alive."""
        turn = self._service.large_lines.turn(self._identity.project)
        waiting = asyncio.run_coroutine_threadsafe(turn, self._stream.loop)
        while True:
            try:
                return waiting.result(_LOOK_SECONDS)
            except TimeoutError:
                if self._stream.failure:
                    waiting.add_done_callback(_release_unwanted)
                    raise self._stream.failure from None

    def _annotated_lines(self) -> Iterator[SourceLine]:
        stream = cast("BinaryIO", self._stream)
        return read_annotated(StreamLines(stream, self._params.source, self._settings))

    def _resumed(self) -> RedisBatch:
        return resumable_batch(self._service, self._identity, self._params.resume)

    def _batch(self, project: str) -> tuple[RedisBatch, bool]:
        """Return the batch to fill, and whether an earlier request created it."""
        begun = self._held.batch() if self._held else None
        if begun:
            return self._begun_batch(begun), True
        batch = self._client.open(
            *(self._params.source, self._params.graders),
            metadata=self._params.metadata,
            priority=self._params.priority,
            project=project,
            actor=self._identity.actor,
        )
        if self._held:
            self._held.bind(batch.id)
        return batch, False

    def _begun_batch(self, batch_id: str) -> RedisBatch:
        batch = self._client.batch(batch_id, self._identity.actor)
        try:
            batch.status()
        except BatchError as error:
            raise ProblemError(
                409,
                "IDEMPOTENCY_KEY_SPENT",
                f"this Idempotency-Key was used before, and {error.message}",
                "send the request with another key to submit the cases again",
            ) from None
        return batch

    @contextmanager
    def _ended_on_error(self, batch: RedisBatch, *, begun_before: bool) -> Iterator[None]:
        """End the batch as failed if the upload cannot be continued."""
        try:
            yield
        except ChunkConflictError:
            if begun_before and not self._params.resume:
                raise other_content("with other cases") from None
            raise
        except BatchClosedError:
            raise  # the batch was ended meanwhile: the key must not create another
        except Exception as error:
            kept = self._held or self._params.resume
            if not kept or not isinstance(error, _RESUMABLE):
                self._give_up(batch, error)
            raise

    def _forget(self, batch: RedisBatch) -> None:
        """Delete a batch that is refused, so that the same key may be used again."""
        batch.delete()
        if self._held:
            self._held.forget()

    def _refuse_ungraded(self, batch: RedisBatch, error: NoGraderError) -> NoReturn:
        """Delete a batch whose jobs would all be errored for want of a grader, and raise the error."""
        self._forget(batch)
        raise ProblemError(
            422,
            error.code,
            error.message,
            error.hint
            if self._params.is_from_client
            else "name one with ?grader=ID or `graders`, or give each case a 'grader'; GET /api/graders lists them",
            CLOSE,
        ) from None

    def _refuse_empty(self, batch: RedisBatch) -> None:
        """Delete a batch without a job, and raise the error: a body that was forgotten must not look like a success."""
        self._forget(batch)
        if self._params.is_from_client:
            raise NoCasesError(self._params.source)
        raise ProblemError(
            422,
            NoCasesError.code,
            "the request has no cases",
            "send them as the body, as curl does with --data-binary @FILE, or as the last field of a form",
        )

    def _give_up(self, batch: RedisBatch, error: Exception) -> None:
        # Keep the original error; the batch expires eventually.
        with suppress(WeighbridgeError):
            batch.give_up(str(error)[:300])
        if self._held:
            with suppress(WeighbridgeError):
                self._held.forget()
