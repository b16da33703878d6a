"""The finding: what the monitor comes to, the figures of the unseen half first."""

from __future__ import annotations

from failbench.reporting.cells import interval_cell, percent
from failbench.studies.monitor.blind import VERSION
from failbench.studies.monitor.rungs import LADDER
from failbench.studies.monitor.shown import Shown, points, unshown

ENDING = ("rung", LADDER[0].name)


def finding(shown: Shown) -> str:
    """The version that had not seen the half beside the forest, then the first and the last."""
    first, last = shown.versions[0], shown.versions[-1]
    whole, said = shown.accuracy(first), []
    if shown.blind:
        version, forest, difference = shown.blind.values()
        said.append(
            f"Version {VERSION} of the monitor's rules, made with one half of the scenarios in "
            f"view, names the right one of five categories in {interval_cell(version)} % of the "
            f"failures of the other half ({version.n} scenarios) and alarms "
            f"{shown.alarmed(VERSION)} % of {shown.twins(VERSION)['n']} healthy twins. On the same "
            f"failures the random forest, out of fold on the 19 features, is right in "
            f"{interval_cell(forest)} %, a difference of {points(difference)}."
        )
    said.append(
        f"Version {first}, by the author of the faults but frozen before any failing run had been "
        f"recorded with the monitor, is right in {shown.cell(**shown.whole(first))} % of "
        f"{whole['runs']} runs of {whole['n']} scenarios ({shown.halves}), and alarms "
        f"{shown.alarmed(first)} % of the healthy twins."
    )
    if last != first:
        said.append(
            f"Version {last}, made with all scenarios in view, reaches "
            f"{shown.cell(**shown.whole(last))} % and {shown.alarmed(last)} %, which is "
            f"development."
        )
    said.append(
        f"How runs end, by itself, names {shown.cell(**shown.whole(last, *ENDING))} % "
        f"({100 * shown.confidence:g} % intervals by resampling scenarios and seeds, of alarms "
        f"Wilson's).\n"
    )
    return " ".join(said)


def title(shown: Shown) -> str:
    """The title of the figure: the same in short."""
    first, last = shown.versions[0], shown.versions[-1]
    said = []
    if shown.blind:
        version, forest, difference = shown.blind.values()
        shows = "no difference shown" if unshown(difference) else points(difference)
        said.append(
            f"version {VERSION} on {version.n} held-out scenarios {percent(version.value)} % "
            f"(random forest {percent(forest.value)} %, {shows})"
        )
    twins = percent(shown.twins(first)["value"])
    reached = percent(shown.accuracy(first)["value"])
    said.append(f"version {first} {reached} %, alarming {twins} % of healthy twins")
    if last != first:
        reached = percent(shown.accuracy(last)["value"])
        said.append(f"version {last}, made with all in view and drawn here, {reached} %")
    ending = percent(shown.accuracy(last, *ENDING)["value"])
    return f"Right category named by the monitor: {'; '.join(said)}; the ending alone {ending} %"
