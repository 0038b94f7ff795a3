"""The pages: what people see of graders, batches, results and workers."""

from __future__ import annotations

from fastapi import APIRouter

from weighbridge_producer.web import graders

router = APIRouter(include_in_schema=False)
router.include_router(graders.router)
