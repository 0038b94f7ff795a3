"""A case as a page shows it: the timeline of its trace, its loops, its running totals, and what is wrong in its arguments."""
