from __future__ import annotations

from dataclasses import replace

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg

from failbench.peers.alarms import ALARM_SCHEMA
from failbench.reporting.markup import render
from failbench.studies.peers.elsewhere import Asked, Elsewhere
from failbench.studies.peers.report import report
from failbench.studies.peers.said import PACKAGE
from failbench.studies.peers.settings import PeersStudy
from made_up_peers import RUNS, SETTINGS, folds, is_failing, said

STUDY = PeersStudy(
    verdicts=("verdicts",),
    factors=(1.0, 2.0),
    repeats=1,
    methods=("simple_rules", "invariants"),
    monitor_version="6",
)

IN_BERT = Asked("default_plus_plus", "bert-adamw")


def elsewhere():
    """A tool that alarms all runs of another setting, and read the half of the failing ones."""
    runs = RUNS.filter(pl.col("kind") != "success").with_columns(
        run_id=pl.format("{}-bert", "run_id"), setting=pl.lit(IN_BERT.setting)
    )
    alarmed = said(True, "model_software", step=None).with_columns(
        run_id=pl.format("{}-bert", "run_id")
    )
    of_runs = alarmed.join(runs, on="run_id", how="semi")
    read = of_runs.filter(pl.col("run_id").str.contains("-s0"))
    methods = (IN_BERT.method, replace(IN_BERT, read=True).method)
    tables = zip(methods, (of_runs, read), strict=True)
    issues = {"peer": IN_BERT.peer, "setting": IN_BERT.setting, "issue": "qkv"}
    return Elsewhere(
        pl.concat(table.with_columns(method=pl.lit(method)) for method, table in tables),
        runs,
        pl.DataFrame([issues | {"failure": 30, "twin": 29, "success": 0}]),
    )


ELSEWHERE = elsewhere()


def made_up_report(others=ELSEWHERE):
    def alarm_everything(run):
        return True

    peers = pl.concat(
        [
            said(alarm_everything, "optimization", method="umlaut"),
            said(is_failing, "optimization", choice="× 2", method="umlaut"),
            said(is_failing, "memory_hardware", step=None, method="runmedic"),
        ]
    )
    ours = pl.concat(
        [
            said(is_failing, lambda run: run["category"] or "abstain", method=PACKAGE),
            said(None, "optimization", method="simple_rules"),
            said(is_failing, "optimization", method="invariants"),
        ]
    )
    alarms = pl.DataFrame(
        [("optimization_0-s0", "umlaut", "lr_high", 1.0, 3)], schema=ALARM_SCHEMA, orient="row"
    )
    return report(
        peers, others, ours, alarms, RUNS, folds(), {"runmedic": "mlflow"}, STUDY, SETTINGS
    )


REPORT = made_up_report()


def table(name):
    (wanted,) = (each for each in REPORT.tables if each.name == name)
    return render(wanted)["md"]


def test_a_peer_has_a_row_as_documented_and_one_with_its_best_thresholds():
    rates = REPORT.points["peers"].filter(method="umlaut", metric="alarm_twin")
    assert dict(rates.select("choice", "value").iter_rows()) == {
        "documented": 1.0,
        "best_detection": 0.0,
        "best_category": 1.0,
    }


def test_tables_name_every_method_and_say_which_were_made_in_view():
    main = table("peers")
    for label in (
        "UMLAUT (4 of 14)",
        "runmedic",
        "failbench diagnose",
        "Simple rules",
        "DEFault++ in BERT (n = 30)",
        "DEFault++ in BERT, as read (n = 15)",
        "Invariants",
    ):
        assert label in main
    assert "made with these scenarios in view" in main


def test_the_finding_has_the_figures_of_the_tables():
    finding = REPORT.sentences["finding"]
    assert finding.startswith("Of 165 documented rules of 10 peers 26 are held against")
    assert "runmedic does best" in finding


def test_a_tool_that_was_asked_elsewhere_has_its_own_numbers_and_no_best_thresholds():
    note = "30 failing runs and 30 healthy twins of BERT. It reads 15 failing runs"
    assert note in table("peers")
    assert "DEFault++ in BERT" not in table("peers_best")
    assert "| qkv " in table("peers_elsewhere")
    sentence = "DEFault++ in BERT was asked about 30 failing runs and alarms 100.0"
    assert sentence in REPORT.sentences["finding"]


def test_without_such_a_tool_nothing_is_said_of_it():
    nobody = Elsewhere(ELSEWHERE.said.clear(), RUNS.clear(), ELSEWHERE.issues.clear())
    made = made_up_report(nobody)
    assert "DEFault++" not in made.sentences["finding"]
    assert "peers_elsewhere" not in {each.name for each in made.tables}


def test_the_figure_has_a_row_for_each_method_and_its_finding_above():
    picture = REPORT.figures["peers"]
    assert picture.title.startswith("Of 2 other tools on the same runs runmedic tells")
    figure = picture.figure()
    FigureCanvasAgg(figure).draw()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [
        "UMLAUT",
        "runmedic",
        "DEFault++ in BERT",
        "DEFault++ in BERT, as read",
        "failbench diagnose",
        "Simple rules",
        "Invariants*",
    ]
