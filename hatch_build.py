"""What hatchling does besides packing files: it has `tools/build_core.py` build the compiled core."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "tools"))

import build_core


class CoreHook(BuildHookInterface[Any]):
    """Builds the core before a wheel is made, or before a checkout is installed as it is."""

    def dependencies(self) -> list[str]:
        """Name what pip installs before it builds: ziglang only where there is no C compiler."""
        return build_core.list_needs()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it, and say for which platform the wheel is; any Python from 3.11 on will do."""
        build_core.build_core(build_core.list_builds())
        if version == "editable":
            build_core.write_renewal()
            return
        from packaging.tags import sys_tags

        platform = next(iter(sys_tags())).platform
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{platform}"
        modules = [f"{build}/*.{end}" for build in build_core.list_builds() for end in ("so", "pyd")]
        build_data["artifacts"] += [f"src/safear/core/{each}" for each in modules]
