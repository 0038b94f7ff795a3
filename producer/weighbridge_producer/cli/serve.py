"""`weighbridge serve`: the HTTP API and the web UI."""

from __future__ import annotations

import os
import shlex
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from weighbridge.errors import ServerError, WeighbridgeError
from weighbridge.settings import masked, read_settings
from weighbridge.text import pluralize, printable
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_options import Map, MappingFile, ReadingOptions
from weighbridge_producer.cli.show import err, out, print_error, print_json, shown
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.listening import Listener
    from weighbridge_producer.server import Server
    from weighbridge_producer.service.service import Service

_WAIT_SECONDS = 1.0
_SEARCH_SECONDS = 5.0
_LEAVE_SECONDS = 5.0  #: limit for the submitting thread to stop


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on.", callback=opt.utf8)
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for a free one.")] = 8000,
    redis_url: opt.RedisUrl = None,
    embedded: Annotated[
        bool,
        typer.Option("--embedded", help="Start a private Redis and workers; batches are kept."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes of --embedded.", show_default=opt.ONE_PER_CORE),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where --embedded keeps its batches (default: serve/ in the state folder).",
        ),
    ] = None,
    require_keys: Annotated[
        bool,
        typer.Option(
            "--require-keys",
            help="Require API keys on a loopback address too, as behind a proxy on this machine.",
        ),
    ] = False,
    submit: Annotated[
        str | None,
        typer.Option(
            metavar="CASES",
            help="Submit these cases at the start, as `submit` does.",
            callback=opt.utf8,
        ),
    ] = None,
    map_: Map = None,
    mapping: MappingFile = None,
    grader: opt.Graders = None,
    config: opt.Configs = None,
    graders: opt.GradersFile = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write messages as JSON, one value per line.")
    ] = False,
) -> None:
    """Serve the HTTP API and the web UI until Ctrl-C or SIGTERM.

    On a loopback address (the default) no API key is required. On any other address keys are required:
    `weighbridge keys make` creates one.

    Exit status: 0 when it was stopped by Ctrl-C or SIGTERM, 1 when something went wrong, 2 for a usage error.
    """
    settings = read_settings()
    _check_options(redis_url, workers, folder, embedded=embedded)
    specs = opt.specs(grader, config, graders)
    opt.check_here(specs, graders)
    if (map_ or mapping) and not submit:
        raise typer.BadParameter("it is for the cases of --submit", param_hint="--map, --mapping")
    reading = ReadingOptions(maps=map_, mapping=mapping)
    source = source_of([submit], specs, settings, reading) if submit else None
    from weighbridge_producer.listening import listen

    with ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        serving = _Serving(settings, listener, source, specs)
        serving.as_json = as_json
        if embedded:
            from weighbridge_producer.run.local_service import LocalService, default_folder

            kept_in = folder or default_folder(settings)
            children = workers or os.cpu_count() or 1
            url = stack.enter_context(LocalService(kept_in, children, serving.fail)).url
            serving.settings = settings.model_copy(update={"broker_url": None})
            serving.kept_in = kept_in
        else:
            url = _shared(redis_url, settings)
        serving.go(url, keys_required=require_keys or not listener.is_loopback)
    if serving.failure:
        print_error(serving.failure, as_json=as_json)
        raise typer.Exit(ERROR)


def _shared(redis_url: str | None, settings: Settings) -> str:
    """Return the URL of the shared Redis server, after checking the connection."""
    url = redis_url or settings.store_address
    if not url:
        raise ServerError(
            "no Redis server is named",
            "give --redis-url or WEIGHBRIDGE_REDIS_URL, or --embedded to start a private one",
        )
    from weighbridge_producer.client.connection_check import check_connection

    check_connection(url)
    return url


def _check_options(
    redis_url: str | None, workers: int | None, folder: Path | None, *, embedded: bool
) -> None:
    if embedded and redis_url:
        raise typer.BadParameter("--embedded starts a private Redis", param_hint="--redis-url")
    if not embedded and (workers or folder):
        raise typer.BadParameter(
            "only --embedded starts workers and has a folder", param_hint="--workers, --folder"
        )


class _Serving:
    """The running service, and the messages about it."""

    def __init__(
        self,
        settings: Settings,
        listener: Listener,
        cases: Source | None,
        graders: tuple[GraderSpec, ...],
    ) -> None:
        self.settings = settings
        self.kept_in: Path | None = None  #: folder of an embedded server's data
        self.failure: WeighbridgeError | None = None
        self.as_json = False  #: True if messages are printed as JSON
        self._listener = listener
        self._cases = cases
        self._graders = graders
        self._server: Server | None = None
        self._stop = threading.Event()

    def fail(self, error: WeighbridgeError) -> None:
        """Stop the service because of an error."""
        self.failure = error
        if self._server:
            self._server.should_exit = True

    def go(self, url: str, *, keys_required: bool) -> None:
        """Serve until the service is asked to stop."""
        from weighbridge.store.audit import log_to_standard_error
        from weighbridge_producer.client.redis_client import RedisClient
        from weighbridge_producer.server import make_server
        from weighbridge_producer.service.service import Service

        submitting = None
        if self._cases:
            work = (url, self._cases)
            submitting = threading.Thread(
                target=self._submit, args=work, name="submit", daemon=True
            )
        with RedisClient(url, settings=self.settings, retry=False) as client:
            service = Service(client, keys_required=keys_required)
            if not self.kept_in:  # a shared server: others use it too
                log_to_standard_error(as_json=self.settings.logs_json)

            def announce() -> None:
                self._announce(service, url)
                if submitting:
                    submitting.start()

            self._server = make_server(service, announce)
            try:
                if not self.failure:
                    self._server.run(sockets=[self._listener.socket])
            except KeyboardInterrupt:
                pass  # raised by uvicorn after an orderly shutdown on Ctrl-C
            finally:
                self._stop.set()
                if submitting and submitting.is_alive():
                    submitting.join(_LEAVE_SECONDS)

    def _announce(self, service: Service, url: str) -> None:
        if self.as_json:
            kept_in = str(self.kept_in) if self.kept_in else None
            keys = {"keys_required": service.keys_required, "kept_in": kept_in}
            print_json({"url": f"{self._listener.url}/", "redis_url": masked(url), **keys})
            return
        out.print(f"Weighbridge is at {shown(self._listener.url)}/")
        if not self._listener.is_loopback and not service.settings.trusted_proxies:
            err.print(
                "warning: this is plain HTTP: API keys and results can be read on the network; put a proxy with TLS in"
                " front of it, and name its address in WEIGHBRIDGE_TRUSTED_PROXIES"
            )
        if not service.keys_required:
            out.print(
                "  API keys are off: only this machine can reach the service, and each of its users may do everything"
            )
        elif not service.keys.all():
            hidden = (
                ""
                if service.settings.store_address == url
                else f" --redis-url {shlex.quote(shown(masked(url)))}"
            )
            out.print(
                f"  API keys are required, and there is none yet: weighbridge keys make NAME --role admin{hidden}"
            )
        if self.kept_in:
            out.print(
                f"  batches are kept in {shown(str(self.kept_in))} for the next start; remove the folder to delete them"
            )
        out.print("  Ctrl-C stops it")

    def _submit(self, url: str, source: Source) -> None:
        from weighbridge_producer.client.redis_client import RedisClient

        try:
            with RedisClient(url, settings=self.settings) as client:
                batch = client.open(printable(source.name), self._graders)
                batch.submit(source, should_stop=self._stop.is_set)
                if self.as_json:
                    print_json({"submitted": batch.id})
                else:
                    out.print(f"submitted: {self._page(f'/batches/{batch.id}')}")
                self._follow(batch)
        except WeighbridgeError as error:
            print_error(error, as_json=self.as_json)

    def _follow(self, batch: RedisBatch) -> None:
        """Print how a batch ended, and a link to its first failure."""
        from weighbridge.jobs.result_line import ResultRow
        from weighbridge.store.result_filter import ResultFilter

        while not self._stop.is_set():
            with suppress(TimeoutError):
                counts = batch.wait(_WAIT_SECONDS).counts
                break
        else:
            return
        if self.as_json:
            print_json({"graded": batch.id, "counts": counts.as_dict()})
            return
        others = {"errored": counts.errored, "ungradable": counts.ungradable}
        more = "".join(f", {jobs:,} {name}" for name, jobs in others.items() if jobs)
        out.print(
            f"  graded: {counts.passed:,} of {pluralize(counts.total, 'job')} passed, {counts.failed:,} failed{more}"
        )
        for line in batch.search(
            ResultFilter(verdict="fail"), limit=1, budget_seconds=_SEARCH_SECONDS
        ).lines:
            failure = ResultRow.from_bytes(line)
            query = urlencode({"custom_id": failure.custom_id, "label": failure.label})
            out.print(f"  one that failed: {self._page(f'/batches/{batch.id}/result?{query}')}")

    def _page(self, address: str) -> str:
        return shown(f"{self._listener.url}{address}")
