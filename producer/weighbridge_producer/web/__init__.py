"""The pages: what people see of graders, batches, results and workers."""

from __future__ import annotations

from fastapi import APIRouter

from weighbridge_producer.web import (
    batches,
    causes,
    graders,
    new_batch,
    result,
    results,
    sign_in,
    workers,
)

router = APIRouter(include_in_schema=False)
for pages in (graders, new_batch, batches, causes, result, results, sign_in, workers):
    router.include_router(pages.router)
