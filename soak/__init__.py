"""The reliability run of the project: `make soak`."""
