"""The application, put together."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI

from weighbridge_producer.http import problems
from weighbridge_producer.http.routes import graders, ops, workers
from weighbridge_producer.http.security import Security

if TYPE_CHECKING:
    from weighbridge_producer.http.service import Service


def create_app(service: Service) -> FastAPI:
    """Return the application that serves the API and the page for one service."""
    app = FastAPI(
        title="Weighbridge",
        version=version("weighbridge"),
        description="Grades AI-agent outputs and traces in bulk, with evidence for every verdict.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page would load scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        responses=problems.PROBLEM_ANSWERS,
    )
    app.state.service = service
    problems.add_handlers(app)
    for router in (graders.router, ops.router, workers.router):
        app.include_router(router)
    app.add_middleware(Security, service=service)
    return app
