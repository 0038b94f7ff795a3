"""The pages: what people see of graders, batches, results and workers."""

from __future__ import annotations

from fastapi import APIRouter

from weighbridge_producer.web.rendering import STATIC_FOLDER as static_files  # noqa: N811 - a folder, handed on

router = APIRouter(include_in_schema=False)
