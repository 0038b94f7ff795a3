"""The Python clients: over the store, over HTTP, and asynchronous."""
