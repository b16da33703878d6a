"""Recording of other kinds of network than the six architectures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from failbench.base.params import read_section
from failbench.cli import places
from failbench.cli.record import Wanted, read_causes, record_campaign, record_signals, stop_after

if TYPE_CHECKING:
    from failbench.recording.kinds.plan import Kind

OUTPUT = Path("data/kinds")


def record_kinds(wanted: Wanted) -> int:
    """Record the runs of other kinds of network that are missing or out of date."""
    from failbench.base.detector import DetectorParams
    from failbench.base.workers import available_workers
    from failbench.recording.campaign import Campaign
    from failbench.recording.fault_modules import refuse_unusable_faults
    from failbench.recording.fingerprint import code_hash, corpus_cache
    from failbench.recording.journal import read_known
    from failbench.recording.kinds import images
    from failbench.recording.kinds.plan import (
        CAUSES,
        ON_IMAGES,
        KindsWanted,
        faults_of,
        params_of,
        read_other_causes,
        scenarios_of,
        setting_of,
    )
    from failbench.recording.plan import RecordParams
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra()
    causes, output = read_causes(wanted.scenarios, (), wanted.only), wanted.output or OUTPUT
    file, work = places.params_file(wanted.params), places.work_folder(output)
    record = read_section("record", RecordParams, file)
    section, others = read_section("kinds", KindsWanted, file), read_other_causes()
    if wanted.seeds is not None:
        section = section.model_copy(update={"seeds": wanted.seeds})
    stop = stop_after(wanted.minutes)

    def campaign(kind: Kind) -> Campaign:
        scenarios, faults = scenarios_of(kind, causes.scenarios, others), faults_of(kind)
        refuse_unusable_faults(scenarios, CAUSES, faults.signatures)
        corpus = corpus_cache(work)
        if kind in ON_IMAGES:
            code = code_hash([Path(images.__file__)])
            corpus = work / f"images-{code[:12]}.json"
            images.write_images(corpus)
        setting = setting_of(kind)
        return Campaign(
            setting,
            scenarios,
            params_of(kind, record, section),
            read_section("detector", DetectorParams, file),
            places.journal_folder(output) / setting.name,
            corpus.resolve(),
            known=read_known(output),
            again=frozenset(wanted.again),
            stop=stop,
            outside=faults,
        )

    workers = wanted.workers or available_workers()
    whole = not wanted.only and wanted.seeds is None
    for kind in wanted.kinds:
        if code := record_campaign(campaign(kind), workers, output, whole, None):
            return code
        if wanted.signals is not None:
            monitored = output / places.MONITORED.name
            level, later = wanted.signals, wanted.from_start
            if code := record_signals(campaign(kind), level, workers, monitored, later):
                return code
    return 0
