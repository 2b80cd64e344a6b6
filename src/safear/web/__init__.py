"""A web page for the person and for the analyst, and a REST API; all of it local, and nothing personal is kept."""

from __future__ import annotations
