"""The worker: claims chunks, grades them, records the results. `celery -A weighbridge_worker worker` finds `app` here."""

from weighbridge_worker.app import app

__all__ = ["app"]
