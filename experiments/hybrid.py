"""Stage hybrid: what each route of the hybrids is worth, and which thresholds are cheapest."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from pydantic import Field

from failbench import study as st

HYBRIDS = {
    "hybrid": "three-way",
    "hybrid_two_way": "two-way",
    st.ON_INVARIANTS: "monitor (in-sample)",
}
RULES = "improved_rules"
MEMBERS: dict[st.Route, str] = {"classifier": "random_forest", "human": "simulated_human"}
"""Who answers what the rules hand on."""

KEYS = ("hybrid", "route", "metric")
MEASURED, REPORTED = {"source": None}, {"source": "reported"}
LETTER = 0.0155
"""Share of a bar that a letter takes; what does not fit into its segment is left out."""


class RoutingSettings(st.Record):
    """What is varied, and how surely it is told; the section ``routing`` of params.yaml."""

    feature_set: str
    step: float = Field(gt=0, le=0.25)
    human_costs: tuple[float, ...] = Field(min_length=1)
    wrong_answer_costs: tuple[float, ...] = Field(min_length=1)
    halves: int = Field(ge=100)


def routes(
    hybrid: str,
    predictions: pl.DataFrame,
    costs: st.UnitCosts,
    settings: st.ScenarioIntervalSettings,
) -> Iterator[pl.DataFrame]:
    """Share and precision of each route that answers anything, accuracy and cost of all."""
    if st.made_in_view(hybrid):
        # what has precedence over the invariant that decides must be checked too: nobody counts it
        predictions = predictions.with_columns(conditions=None)
    for route in st.ROUTES:
        answered = pl.col("route") == route
        if not predictions.select(answered.any()).item():
            continue
        share = st.proportion(
            "share",
            st.over_scenarios(predictions, answered),
            f"probability that a run of a new scenario is answered by {route}",
        )
        precision = st.proportion(
            "precision",
            st.over_those(predictions, st.right(), answered),
            f"ratio of two probabilities: that {route} diagnose a run of a new scenario right, "
            "over that they answer it",
        )
        values = (share, precision, *conditions(predictions, answered))
        yield st.of_scenarios(predictions, (), settings, values, hybrid=hybrid, route=route)
    values = (*st.cost_metrics(predictions, costs), *conditions(predictions, pl.lit(value=True)))
    accuracy = (st.METRICS["accuracy"],)
    yield st.of_scenarios(predictions, accuracy, settings, values, hybrid=hybrid, route="all")


def conditions(predictions: pl.DataFrame, answered: pl.Expr) -> Iterator[st.ValueMetric]:
    """Conditions to read of the answers that show any, which a person's do not."""
    shown = pl.when(answered).then(pl.col("conditions"))
    if not predictions.select(shown.is_null().all()).item():
        yield st.ValueMetric(
            "conditions_to_read",
            st.over_scenarios(predictions, shown),
            "conditions to check in order to verify the diagnosis of a run of a new scenario, "
            "where there are any",
        )


def best_thresholds(
    rules: pl.DataFrame,
    members: Mapping[st.Route, pl.DataFrame],
    main_study: st.HybridSettings,
    costs: st.UnitCosts,
    settings: RoutingSettings,
    intervals: st.ScenarioIntervalSettings,
) -> pl.DataFrame:
    """At every pair of prices, which thresholds are cheapest, how sure that is, and what it saves.

    The cheapest pair on these scenarios looks cheaper than it is: it was chosen on them. How much,
    halves say, drawn at random within categories: the pair that one half chooses is paid for on the
    other. Of pairs that cost the same the most cautious is taken.
    """
    pair = (main_study.classifier_from, main_study.rules_from)
    grid = st.routed_grid(rules, members, settings.step, pair)
    n, measured, person_alone = grid.outcomes.n, grid.position(*pair), grid.position(1.0, 1.0)
    prices: st.Prices = [
        (costs.model_copy(update={"human": human}), wrong)
        for human, wrong in product(settings.human_costs, settings.wrong_answer_costs)
    ]
    resampled = st.cheapest_in_resamples(grid, prices, intervals)
    halved = st.costs_of_halves(grid, prices, measured, settings.halves, intervals.seed)
    parts = []
    for (units, wrong), cheapest, halves in zip(prices, resampled, halved, strict=True):
        best = int(st.price(grid.shares(), units, wrong).round(12).argmin())
        positions = {"measured": measured, "person_alone": person_alone, "best": best}
        paid = tuple(
            st.ValueMetric(f"cost_{name}", grid.costs(at, units, wrong), "cost of a diagnosis")
            for name, at in positions.items()
        )
        human, other = f"{units.human:g}", f"{wrong:g}"
        keys = {"human": human, "wrong": other, "prices": f"human {human}, wrong {other}"}
        ranges = {
            **st.uncertainty(grid, best, cheapest, intervals.confidence),
            **st.optimism(halves, intervals.confidence),
        }
        further = [
            {**keys, "metric": name, "value": value, "ci_low": low, "ci_high": high, "n": n}
            for name, (value, low, high) in ranges.items()
        ]
        parts += [st.of_scenarios(rules, (), intervals, paid, **keys), pl.DataFrame(further)]
    return pl.concat(parts, how="diagonal_relaxed")


def printed(paper: st.Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints of the routes, as rows of the same frame."""
    number = partial(st.reported_number, paper)
    shares = st.reported_numbers(paper, "hybrid_shares", len(st.ROUTES))
    parts = st.reported_numbers(paper, "hybrid_parts", 4)
    known = {
        ("hybrid", "rules"): (shares[0], number("hybrid_rules_precision")),
        ("hybrid", "classifier"): (shares[1],),
        ("hybrid", "human"): (shares[2],),
        ("hybrid_two_way", "rules"): parts[:2],
        ("hybrid_two_way", "classifier"): parts[2:],
        **{(name, "all"): (1.0, number(claim)) for name, claim in st.REPORTED_HYBRIDS.items()},
    }
    for (hybrid, route), numbers in known.items():
        values = dict(zip(("share", "precision"), numbers, strict=False))
        yield from st.reported(keys={"hybrid": hybrid, "route": route, **REPORTED}, **values)


def numbers(found: st.Estimates) -> dict[str, object]:
    measured = found.where(hybrid="hybrid", metric="share", **MEASURED).frame
    answered = dict(measured.select("route", "value").rows())
    printed = found.where(**REPORTED)
    three, two = printed.where(hybrid="hybrid"), printed.where(hybrid="hybrid_two_way")
    share, rate = partial(three.value, metric="share"), partial(three.value, metric="precision")
    parts, rates = partial(two.value, metric="share"), partial(two.value, metric="precision")
    machines = ("rules", "classifier")
    by_machines = share(route="rules") * rate(route="rules")
    by_machines += share(route="classifier") * rates(route="classifier")
    return {
        "by_rules": answered.get("rules", 0.0),
        "by_people": answered.get("human", 0.0),
        "not_people": 1 - answered.get("human", 0.0),
        "sum_of_parts": sum(parts(route=route) * rates(route=route) for route in machines),
        "needed_of_people": (rate(route="all") - by_machines) / share(route="human"),
    }


def tables(
    found: st.Estimates, thresholds: pl.DataFrame, costs: st.UnitCosts, said: st.Captions
) -> Iterator[st.Table]:
    """What each route is worth, reported beside measured, and the cheapest thresholds."""
    measured = found.where(**MEASURED).frame
    named = found.frame.with_columns(
        pl.col("metric").replace({"accuracy": "precision", "cost_per_run": "cost"})
    )
    paid = measured.filter(metric="share").with_columns(
        pl.col("value", "ci_low", "ci_high") * pl.col("route").replace_strict(costs.by_route()),
        metric=pl.lit("cost"),
    )
    whole = [{"hybrid": name, "route": "all", "metric": "share", "value": 1.0} for name in HYBRIDS]
    answering = measured.select("hybrid", "route").unique(maintain_order=True).rows()
    labels, body = said.labels("hybrid"), []
    for hybrid, route in answering:
        own = "Invariants" if (hybrid, route) == (st.ON_INVARIANTS, "rules") else labels[route]
        keys = {"hybrid": hybrid, "route": route, **MEASURED}
        body.append(st.Row((st.method_label(hybrid), own), keys))
    found, notes = st.Estimates(pl.concat([named, paid])), st.development_note(HYBRIDS)
    yield st.table("hybrid", found.plus(*whole), None, body, said, *notes)
    pairs = thresholds.select("human", "wrong").unique(maintain_order=True).rows()
    body = [st.Row(pair, {"human": pair[0], "wrong": pair[1]}) for pair in pairs]
    yield st.table("hybrid_thresholds", st.Estimates(thresholds), None, body, said)


def draw(found: st.Estimates, figure: Figure) -> None:
    """Who answers, reported above measured."""
    axes = figure.subplots()
    bars = {
        f"{kind}, {source or 'measured'}": found.where(hybrid=hybrid, source=source)
        for hybrid, kind in HYBRIDS.items()
        for source in ("reported", None)
    }
    drawn = {label: bar for label, bar in bars.items() if bar.frame.height}
    answering = {"rules": RULES} | {**MEMBERS}
    for place, bar in enumerate(drawn.values()):
        start = 0.0
        for route, method in answering.items():
            row = bar.row(route=route, metric="share")
            if row is None:
                continue
            share, precision = row["value"], bar.row(route=route, metric="precision")
            colour = st.METHOD_STYLES[method].colour
            axes.barh(place, 100 * share, left=100 * start, color=colour, alpha=0.6)
            right = f" ({100 * precision['value']:.0f})" if precision else ""
            texts = [f"{100 * share:.0f}{right}", f"{100 * share:.0f}"]
            texts.insert(0, f"{route}: {texts[0]}")
            text = next((text for text in texts if len(text) * LETTER <= share), "")
            axes.text(100 * (start + share / 2), place, text, ha="center", va="center")
            start += share
    axes.set_yticks(range(len(drawn)), drawn)
    axes.set(xlim=(0, 100), ylim=(len(drawn) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0)
    n = found.n(hybrid="hybrid", route="all", metric="accuracy")
    axes.set_xlabel(f"percent of n = {n} scenarios (in brackets: percent of them right)")


def main() -> None:
    thresholds = st.read_section("hybrid", st.HybridSettings)
    costs = st.read_section("costs", st.UnitCosts)
    settings = st.read_section("routing", RoutingSettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    paper = st.read_reported()

    def read(method: str) -> pl.DataFrame:
        return st.read_main_study([method]).filter(feature_set=settings.feature_set)

    measured = pl.concat(
        part for name in HYBRIDS for part in routes(name, read(name), costs, intervals)
    )
    members = {route: read(method) for route, method in MEMBERS.items()}
    cheapest = best_thresholds(read(RULES), members, thresholds, costs, settings, intervals)
    found = st.Estimates(measured.with_columns(source=pl.lit(None, pl.String)))
    found = found.plus(*printed(paper))
    reported = found.where(**REPORTED).nested(*KEYS)
    named = numbers(found) | {"scenarios": cheapest["n"].max()}
    said = st.Captions.read(
        "hybrid", paper, reported, intervals, costs, thresholds, settings, named
    )
    st.publish_estimates(
        "hybrid",
        measured,
        KEYS,
        metrics={"best_thresholds": st.nest(cheapest, "prices", "metric")},
        tables=tables(found, cheapest, costs, said),
        figures={"hybrid": said.picture("figure", 1.8, partial(draw, found))},
    )


if __name__ == "__main__":
    st.run(main)
