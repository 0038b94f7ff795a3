"""Chat messages: what several providers' conversations have in common."""
