"""A child process: grades chunks, within limits on time and memory."""
