"""The web UI: pages for graders, batches, results and workers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter

from weighbridge_producer.pages import (
    batch,
    batches,
    causes,
    compare,
    graders,
    new_batch,
    preferences,
    result,
    results,
    sign_in,
    slices,
    workers,
)
from weighbridge_producer.pages.rendering import compile_templates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI


@asynccontextmanager
async def _prepared(_: FastAPI) -> AsyncIterator[None]:
    compile_templates()
    yield


router = APIRouter(include_in_schema=False, lifespan=_prepared)
for pages in (
    graders,
    new_batch,
    batch,
    batches,
    causes,
    compare,
    result,
    results,
    sign_in,
    slices,
    preferences,
    workers,
):
    router.include_router(pages.router)
