"""What a PNG shows."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def read_png(content: bytes) -> NDArray[np.uint8]:
    """The brightness of each pixel: height x width."""
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("L"))


def count_ink(content: bytes) -> int:
    """How many pixels are dark."""
    return int((read_png(content) < 140).sum())
