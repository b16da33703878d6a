"""The command ``freeze``: the monitor's rules as a version that stays."""

from __future__ import annotations

import datetime
import shutil

from failbench.cli.paths import MONITORED


def freeze_monitor(*, version: str, date: datetime.date, changed: str, why: str) -> int:
    """Freeze catalogue, precedence and bounds of the monitor, and print their hash."""
    from failbench.base.params import read_section
    from failbench.base.slices import ReferenceStudy
    from failbench.monitor.bounds import REFERENCE
    from failbench.monitor.records.fitting import setting_of
    from failbench.monitor.records.versions import BOUNDS, VERSIONS
    from failbench.recording.validity.freezing import freeze, frozen_hash

    frozen = freeze(MONITORED, version, date, changed, why)
    name = setting_of(read_section("nested_cv", ReferenceStudy).model_dump())
    reference = MONITORED / VERSIONS / version / BOUNDS / f"{name}.json"
    if reference.exists():
        shutil.copyfile(reference, REFERENCE)
    print(f"Version {version} of {frozen.date}: {frozen_hash(frozen)}")
    print(f"Bounds of {', '.join(frozen.all_bounds())}")
    return 0
