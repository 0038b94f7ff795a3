"""Cases, jobs, chunks and batches: how work is described, carried, graded and recorded."""
