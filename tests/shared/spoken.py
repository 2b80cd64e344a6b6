"""The languages that every command, page, letter and picture speaks: one for each catalogue of texts."""

from __future__ import annotations

from safear.texts import languages

LANGUAGES = tuple(languages())
