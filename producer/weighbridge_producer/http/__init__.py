"""The HTTP side of the producer: the API and the page, as one application."""

from weighbridge_producer.http.app import create_app
from weighbridge_producer.http.service import Served, Service

__all__ = ["Served", "Service", "create_app"]
