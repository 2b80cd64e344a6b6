"""Evaluation of policies: exact distributions, and simulation as a cross-check."""
