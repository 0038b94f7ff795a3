"""Celery over Redis: the messages that wake workers."""
