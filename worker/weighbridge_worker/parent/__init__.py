"""The parent process: supervises its children, and puts back the chunks of dead children and lost workers."""
