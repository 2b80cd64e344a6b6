"""Bundled problems."""
