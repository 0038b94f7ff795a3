"""The FastAPI application."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import APIRouter, Depends, FastAPI, Response
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from weighbridge_producer import pages
from weighbridge_producer.pages.errors import error_page
from weighbridge_producer.service import problems
from weighbridge_producer.service.access.auth import rate_limited
from weighbridge_producer.service.access.security import Security
from weighbridge_producer.service.api import (
    audit,
    batch_opening,
    batches,
    cases,
    comparisons,
    events,
    graders,
    keys,
    ops,
    queues,
    results,
    slices,
    workers,
)
from weighbridge_producer.service.metrics import Measure
from weighbridge_producer.service.process_memory import trim_for_ever
from weighbridge_producer.templating import STATIC_FOLDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from fastapi.telemetry import TelemetryConfig
    from starlette.routing import BaseRoute

    from weighbridge_producer.service.service import Service


_API_ROUTERS = [
    routes.router
    for routes in (
        *(batches, batch_opening, events, results, slices, cases, graders),
        *(comparisons, ops, workers, queues, audit, keys),
    )
]
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


class _Versioned(StaticFiles):
    """Static files whose URLs contain a digest of their content."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def create_app(service: Service) -> FastAPI:
    """Return the application that serves the API and the web UI of one service."""
    app = FastAPI(
        routes=[*_routes()],
        title="Weighbridge",
        version=version("weighbridge"),
        description="Grades AI-agent outputs and traces in bulk, with evidence for every verdict.",
        openapi_url=None,  # generated once, below
        docs_url=None,  # FastAPI's page loads scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        lifespan=_lifespan,
    )
    app.state.service = service
    problems.add_handlers(app, error_page)
    app.state.api_routers = _API_ROUTERS
    _add_document(app)
    app.mount("/static", _Versioned(directory=STATIC_FOLDER), name="static")
    app.add_middleware(Security, service=service)
    app.add_middleware(Measure, metrics=service.metrics)
    return app


@cache
def _routes() -> Sequence[BaseRoute]:
    """Return the routes of the API and the web UI, once for all applications: FastAPI takes 60 ms to prepare them."""
    router = APIRouter(responses=problems.PROBLEM_ANSWERS)
    for routes in _API_ROUTERS:
        router.include_router(routes)
    router.include_router(pages.router)
    return router.routes


def _add_document(app: FastAPI) -> None:
    """Serve the OpenAPI document, which is generated once and needs no key."""
    made = cache(lambda: orjson.dumps(problems.describe(app.openapi())))

    @app.get("/api/openapi.json", dependencies=[Depends(rate_limited)], include_in_schema=False)
    async def document() -> Response:
        return Response(made(), media_type="application/json")


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    trimming = asyncio.create_task(trim_for_ever())
    async with pages.router.lifespan_context(app):
        yield
    trimming.cancel()
    service: Service = app.state.service
    # The threads end the batches that they are filling, which needs the client: it is closed afterwards.
    await run_in_threadpool(service.upload_threads.shutdown)
    await service.key_watch.close()
    await service.sandbox.close()
