"""Notes of the tables: what the kinds of onset are, what claims rest on, and who is told what."""

from __future__ import annotations

from typing import Final

KINDS_NOTE: Final = (
    "Kinds are told from telemetry alone: loss, gradient norm, memory as a share of the capacity, "
    "and step time over the run's own first {head} steps, each held against its mean among "
    "{successes} successful runs of the same setting at the same step. A sign is the first of "
    "{persistence} steps on end, or of those up to the failure, that lie more than {sds:g} "
    "standard deviations from it in one of them. Sudden: the sign comes at most {near} steps "
    "before the failure; gradual: earlier; no sign: none before the step of the failure. "
    "Definitions were fixed before they were applied to failing runs, which had been recorded by "
    "then; that the band is of standard deviations and times are relative was chosen on healthy "
    "runs. Of the healthy twins {false} % "
    "show a sign by the end."
)
RUNS_NOTE: Final = (
    "Runs: the {runs} failing runs of {setting}, {scenarios} scenarios with {seeds} seeds. Shares "
    "are means over scenarios; {interval:g} % intervals by resampling scenarios within categories "
    "and their seeds, Wilson's for shares of {below} scenarios or fewer and near one. They hold "
    "for the benchmark's mixture of categories. Nobody is told the truth: kinds are measured, and "
    "categories are those of the injected causes."
)
TEST_NOTE: Final = (
    "V is Cramér's, of the table of category and kind in which every scenario counts once; beside "
    "it its mean over {permutations:,} permutations of the categories of whole scenarios, which is "
    "what chance shows, and the share of permutations that reach it (p)."
)
VERDICT_NOTE: Final = (
    "Held against: a claim of a sign that points to a category against the share of all scenarios "
    "of that category (it holds where the interval lies above it, and does not where it ends less "
    "than {margin:g} points above it); a claim of a clear sign, or of what is usual, against one "
    "half; a share that must be considerable against {margin:g} %; a gain against zero (does not "
    "hold where it ends below {margin:g} points); what occurs in no other category against zero. "
    "Verdicts are of one claim each, without adjustment for their number."
)
CLAIM_NOTE: Final = (
    "Wrong configuration is read as the paper's category of model software, in which its section "
    "3.1 places configuration; a triggering event as a fault that is switched on in mid-run, "
    "which the benchmark knows and telemetry does not. Sudden includes failures without a sign. "
    "The thresholds of gradient norms are the paper's {norm:g} and {norm_sds:g} standard "
    "deviations above the largest norms of successful runs; grown is a norm {growth:g} times the "
    "median of the {history} steps before it, which {false} % of the healthy twins show, too. "
    "Words are the text patterns of the simple rules, written from "
    "documentation. The gain is of reading step series beside the text (raw telemetry, out of "
    "fold, {repeats} repeats), where runs left an error."
)
FAULT_NOTE: Final = (
    "Since onset: median steps from the switching on of the fault to the failure, which nothing "
    "here is told from. Before: share of signs that come before it, and so cannot be of the fault, "
    "among faults that are switched on in mid-run."
)
ROBUST_NOTE: Final = (
    "Each setting is held against its own successful runs, of which there are {fewest} to {most}; "
    "definitions are the same. n: scenarios. Intervals are made as in the main table. False signs: "
    "share of healthy twins with a sign."
)
VARIANT_NOTE: Final = (
    "Band sds: {sds:g} standard deviations, the main definition with {near} steps; reach: the "
    "farthest that successful runs strayed for {persistence} steps on end; untimed: sds without "
    "step times. By lead, a failure is sudden where its sign comes at most so many steps before "
    "it; by rise, where the signal that strays first is half as far as it will be within so many "
    "steps of the sign, however long before the failure. Runs, intervals and V as in the main "
    "table."
)
TEXT_NOTE: Final = (
    "Of the runs that left an error: named, some text pattern of the simple rules matches; named "
    "wrong, the first that does is of another category than the cause; shared, runs of another "
    "category left the same text, numbers aside. Scenarios are those of which some run does."
)
WORDS_NOTE: Final = (
    "Of words, the base rate is the share of runs of which they name the category, and recall is "
    "of these."
)
OTHERS_NOTE: Final = (
    "The definition decides much. With {others} other bands, readings and numbers of steps (table "
    "onset_variants) kinds depend on categories in {associated} (p below {alpha:g}), and the claim "
    "on gradual failures holds in {holds}, does not in {fails}, and is undecided in the others."
)
