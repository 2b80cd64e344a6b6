"""The compiled core: every loop over states, columns, runs and partial plans.

Each module is ordinary Python, with the C types of what it declares in the `.pxd` beside it. What runs is compiled
ahead of time, from one source, once for x86-64 processors with AVX2 and once for every processor; this package chooses
at import. All builds give the same bytes. The core imports nothing else of safear.

$SAFEAR_CORE names another build: `avx2`, `baseline`, `checked` (each index and each sum of whole numbers is checked:
`make test-bounds`), `asan` (each byte that is touched: `make test-asan`), or `python`, the sources themselves, some
thousand times slower, which coverage and mutation testing look at.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

BUILDS = ("avx2", "baseline", "checked", "asan", "python")
_HERE = Path(__file__).parent


def _has_avx2() -> bool:
    """Return whether this processor has what the build of that name takes.

    It takes AVX2 alone; by Microsoft's compiler BMI and LZCNT as well, which NumPy knows of from 2.4 on.
    """
    for home in ("numpy._core", "numpy.core"):  # of NumPy 2 and 1
        if find_spec(home) is not None:
            features = import_module(f"{home}._multiarray_umath").__cpu_features__
            return bool(features.get("X86_V3" if os.name == "nt" else "AVX2"))
    return False


def _choose() -> str:
    """Return the name of the build that serves this process."""
    asked = os.environ.get("SAFEAR_CORE")
    if asked:
        if asked not in BUILDS:
            raise ImportError(f"$SAFEAR_CORE is '{asked}': SafeAR's core has the builds {', '.join(BUILDS)}")
        return asked
    return "avx2" if (_HERE / "avx2").is_dir() and _has_avx2() else "baseline"


BUILD = _choose()
if BUILD != "python":
    if find_spec(f"{__name__}._renew") is not None:  # in a checkout only
        import_module(f"{__name__}._renew").renew(BUILD)
    if not (_HERE / BUILD).is_dir():
        raise ImportError(f"SafeAR was installed without the build '{BUILD}' of its compiled core: install it again")
    __path__ = [str(_HERE / BUILD)]  # the sources would be far too slow to stand in for it
