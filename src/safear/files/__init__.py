"""Files: reading text with errors that name the file, checksums, and writing whole or not at all."""

from safear._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
