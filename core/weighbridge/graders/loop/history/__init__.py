"""What an agent did, as the search for loops compares it: its calls, their arguments and results, and its texts."""
