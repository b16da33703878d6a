"""Notes and labels of the tables of DEFault's runs."""

from __future__ import annotations

from typing import Final

from failbench.external.tables import DETECTION
from failbench.reporting.labels import METHOD_LABELS
from failbench.studies.external_default.results import MAJORITY
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    CATEGORY,
    CLUSTERS,
    HOST_COLUMNS,
    PRINTED,
    SHUFFLED,
    SIMPLE_RULES,
    THEIR_FOREST,
    TRAINING_COLUMNS,
    WITH_CRASHED,
)

DATA_NOTE: Final = (
    "DEFault's released feature tables (Jahan et al., ICSE 2025): a row is a run of a Keras "
    "program, a column the mean of a measurement over its epochs. Labels are the authors': what "
    "they seeded. Host columns: percent of CPU, MB of GPU memory and percent of system memory in "
    "use; they hold nothing of the training."
)
GROUPS_NOTE: Final = (
    "The tables name neither program nor session, so that the groups are ours: about {groups} "
    "contiguous blocks of rows, or {groups} clusters (k-means) of the host columns, as many as the "
    "programs that the authors' later data set names. Either may cut a program in two or hold "
    "several, and so is no more than a guess at what is left on programs that are new; with "
    "clusters the host of a tested run is unlike those of training by construction."
)
INTERVAL_NOTE: Final = (
    "Percent with {confidence:g} % intervals by resampling groups (BCa bootstrap): those that "
    "folds keep together, elsewhere the blocks; Wilson's, with n = groups, where all are right. "
    "Fits are taken as given."
)
PROTOCOL_NOTE: Final = (
    "Authors' protocol: imputation, clipping and scaling fitted to all rows, one random split "
    "(20 % tested), {selected} columns selected by a forest, a forest at the setting that the "
    "authors' grid search chooses. Elsewhere all is fitted to training rows, in {folds} folds, one "
    "repeat, by forests of {trees} trees without selection. Crashed: {crashed} rows in which "
    "every column is empty, all of them labelled correct."
)
METHODS_NOTE: Final = (
    "All methods are given all columns and the same {folds} folds, one repeat; every method is "
    "told the label of training rows and no group. Theirs: the authors' preparation, and a forest "
    "of {trees} trees. Ours: as in the main study, values bounded and medians for what is missing, "
    "at one setting each (params.yaml), not searched, EBM with fewer bags and rounds. Less "
    "theirs: points, with the interval of the paired difference."
)
RULES_NOTE: Final = (
    "Not applicable: the tables have no error text, no steps and no capacity, and their fault "
    "categories are none of our five. Of {simple.rules} simple rules {simple.of_text} read error "
    "text and {simple.without_column} a feature that no column can stand for; the other "
    "{simple.applicable} are asked, with thresholds from correct training runs, and where neither "
    "holds the answer is correct: they hold in {held} of {runs} runs, of which {precision} % are "
    "faulty (blocks). Of the {improved.rules} leaves of the improved rules that name "
    "a category {improved.of_text} read error text and {improved.without_column} a feature that "
    "is not there; {improved.applicable} is left, too few to be asked, and its weights are "
    "precisions for categories that no label here names."
)
BALANCED_NOTE: Final = "Balanced accuracies are in data/plots/external_default.csv."
ONE_NOTE: Final = (
    "A table has the runs of one category and as many of others; the authors' protocol answers a "
    "random fifth of it. Printed: the authors' Table V. Where ours are higher, that is no "
    "improvement: the released negatives are other faults alone, and the split leaks. Majority: "
    "the share of the more frequent label."
)

PROTOCOL_LABELS: Final = {
    PRINTED: "Authors' protocol",
    WITH_CRASHED: "Shuffled folds, fitted to training rows",
    SHUFFLED: "The same without crashed runs",
}
GROUPING_LABELS: Final = {BLOCKS: "blocks of the file", CLUSTERS: "clusters of hosts"}
COLUMN_LABELS: Final = {
    ALL_COLUMNS: "All columns",
    TRAINING_COLUMNS: "Without the host's",
    HOST_COLUMNS: "Only the host's",
}
TASK_LABELS: Final = {
    DETECTION: "Faulty or correct",
    CATEGORY: "Which of seven fault categories",
}
LABELS: Final = {
    **METHOD_LABELS,
    THEIR_FOREST: "Random forest, theirs",
    SIMPLE_RULES: "Simple rules, those that can be asked",
    MAJORITY: "Majority label",
}
