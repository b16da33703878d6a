"""Notes of the tables of diagnoses of logs."""

from __future__ import annotations

from typing import Final

TOLD: Final = (
    "Accuracy: of the category of five that is named, and of the most probable of its root causes "
    "(of {causes} in all), told that the run failed; logs end at the failure. Words decide where "
    "the log has some, and nothing is learnt of that. Models learn from the logs of other "
    "scenarios, in the folds of the main study; which causes speak for which sign was written by "
    "people who knew the scenarios, as were the monitor's rules."
)
LOGS: Final = (
    "Logs: each of {runs} failing runs (all architectures, and SGD) in {formats} formats that were "
    "drawn for it, signals and end missing at random; complete: every signal at every step and the "
    "end. Monitor: the {monitored} of these runs that a monitor watched, in some architectures of "
    "one seed alone, with bounds of healthy runs of the same setting, or with logic alone, as a "
    "stranger has it."
)
SURE: Final = (
    "Surest: the logs of the highest confidence, {coverage:.0f} % of them; {risk}. Named: "
    "something is found, and one category is more likely than all others together. Calibration: "
    "expected error over {bins} bins, and the mean of what perfectly calibrated answers would show."
)
ALARMS: Final = (
    "False alarms: logs of healthy runs in which something is found; bounds of checks come from "
    "other runs of the same settings; Wilson's interval, n = runs. In-sample: the monitor's own "
    "bounds were fitted to these successes, and their margin was chosen on some of these twins."
)
LEVELS_NOTE: Final = (
    "Confidence of an answer to a log: the share of answers that was right among those to logs of "
    "scenarios that its model had not learnt from, by isotonic regression for words that decide, "
    "complete logs and others, within the training folds alone. High: above 90 %; medium: from "
    "70 % on. A dash: no answer. Percent, Wilson's {interval:g} % intervals, n = scenarios."
)
INTERVALS: Final = (
    "Percent, {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds; failing runs of {seeds} seeds, {repeats} repeats of the folds."
)
PEERS: Final = (
    "Peers: runmedic 0.1.1 and training-doctor 0.1.0 as they were installed, and the thresholds "
    "that the skill ml-training-debugger documents, on complete logs of the reference setting, in "
    "the format that each answers best in; the peers' logs go on to the end of a run, ours to the "
    "failure. None is told that a run failed. Verdicts of the peers are mapped to categories by "
    "`src/failbench/peers/data/mapping.csv`; one that names no category is wrong. Ours is of the "
    "first repeat of the folds, the peers learn nothing. Failing runs of {seeds} seeds; "
    "{interval:g} % intervals by resampling scenarios and seeds, of false alarms Wilson's with n = "
    "runs."
)
HEADLINE_NOTE: Final = (
    "Of causes that were not learnt from, told that the run failed: {scenarios} scenarios, failing "
    "runs of {seeds} seeds, {repeats} repeats of the folds; {interval:g} % intervals by resampling "
    "scenarios and seeds. Any log: {formats} formats, signals and end missing at random. Not told, "
    "as the other tools below: complete logs of one setting, one repeat, the tools in the format "
    "that they answer best in; where nothing is found or named, the answer is wrong. Which causes "
    "speak for which sign was written with these scenarios in view. False alarms: of successful "
    "runs, {successes} of all settings, {reference} of the one that the tools read; the monitor's "
    "own bounds were fitted to them."
)
FORMATS_NOTE: Final = (
    "Formats of metrics alone have the terminal's output beside them in half of the logs, and "
    "terminals their end in most: without it a crash cannot be told."
)
SIGNALS_NOTE: Final = (
    "A signal is missing at random, but for formats that never or always have it: rows compare "
    "logs that differ in format too. The error or the death is in a log if the run ended with one "
    "and the log has its end."
)
EVIDENCE_NOTE: Final = (
    "All evidence of {logs} logs of failing runs, each in a format drawn for it, looked up in the "
    "bytes of the log: by line, its number or its words; by step, where the format has no lines, "
    "in its rows. Course: computed of a whole series, and standing nowhere."
)
