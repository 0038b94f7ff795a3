"""Reading cases from files, pipes and archives."""
