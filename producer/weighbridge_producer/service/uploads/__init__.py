"""What comes in: the bodies of requests, and their submission as batches."""
