"""Who may do what: checks of requests, and authentication by API keys."""
