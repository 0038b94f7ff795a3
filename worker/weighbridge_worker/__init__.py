"""The worker: claims chunks, grades them, records the results. `celery -A weighbridge_worker worker` finds `app` here."""

from __future__ import annotations

from typing import Any

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    """Make the application when it is first asked for: that reads the settings, which may have to be refused."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from weighbridge_worker.app import app

    # The import has put the module of that name here.
    globals()["app"] = app
    return app
