"""Classifiers: the protocol, and adapters for models, functions, rules and tables."""
