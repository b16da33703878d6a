"""Recording of trainings on two ranks."""

from __future__ import annotations

from failbench.base.errors import BadInputError
from failbench.cli import places
from failbench.cli.places import RECORDING_WORK, Only, Output
from failbench.cli.terminal import interruptible, progress_meter


def record_ranks(*, output: Output = places.RANKS, only: Only = ()) -> int:
    """Record trainings on two ranks that fail, their healthy twins, and others that succeed.

    An interrupted recording goes on where it stopped; the tables are written when all is recorded.
    """
    from failbench.ranks.causes import planned_runs, read_rank_causes, read_settings
    from failbench.ranks.recorder import Recorder
    from failbench.ranks.recordings import SUCCESS
    from failbench.ranks.verdicts import problems, publish
    from failbench.recording.corpus import load_corpus
    from failbench.recording.fingerprint import corpus_cache
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra()
    settings, causes = read_settings(output), read_rank_causes(output)
    names = {SUCCESS, *(cause.id for cause in causes)}
    if unknown := {*only} - names:
        problem = f"there is no cause {min(unknown)!r}."
        raise BadInputError("--only", "CAUSE", problem, f"Name one of {', '.join(sorted(names))}.")
    groups = [
        group
        for group in planned_runs(settings, causes)
        if not only or (group[0].cause.id if group[0].cause else SUCCESS) in only
    ]
    corpus = corpus_cache(RECORDING_WORK).resolve()
    load_corpus(corpus)
    recorder = Recorder(settings, RECORDING_WORK / "ranks", corpus)
    kept = "Stopped; what was recorded is kept, and the same command goes on."
    with interruptible(kept), progress_meter() as meter:
        runs = recorder.record(groups, lambda *counts: meter.show("ranks", *counts))
    found = [each for group in groups for each in problems(group, runs, settings.apart_nats)]
    if not only:
        publish(output, groups, runs, settings.apart_nats)
    print(f"{len(runs)} runs are recorded; {len(found)} things are not as their causes say.")
    print("\n".join(f"  {each}" for each in found), end="\n" if found else "")
    return 1 if found else 0
