"""OpenTelemetry spans: from attributes of several conventions to steps."""
