"""The API's routes, one module for each thing that they are about."""
