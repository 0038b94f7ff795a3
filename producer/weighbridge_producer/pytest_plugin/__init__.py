"""The pytest plug-in: grades inside tests, and reports what the tests of a session came to together."""
