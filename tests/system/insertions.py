"""What each addition puts into files that are there: entries, sections, a stage, a fault."""

from repository_copy import Insertion

METHOD = (
    Insertion(
        "src/failbench/base/data/methods.csv",
        "linear_discriminant,Linear discriminant,tree or additive model,features,"
        "linear_discriminant\n",
    ),
    Insertion("params.yaml", "  - linear_discriminant\n", before="\nrecord:"),
    Insertion(
        "params.yaml",
        """
linear_discriminant:
  # Inner folds that choose among the values below.
  inner_folds: 3
  # How far covariances shrink towards a sphere, from 0 to 1.
  shrinkage: [0.1, 0.5]
""",
    ),
)
"""Beside the module: what it is called and reads, that it is compared, and its settings."""

FEATURE = Insertion(
    "src/failbench/features/catalogue.py",
    """\
    Feature(
        "traceback_lines",
        "extra",
        "error_text",
        "lines",
        "lines of the traceback, none where the run raised no error",
        pl.col("error_traceback").str.count_matches("\\n").fill_null(0),
        over="runs",
        source="an example of an addition",
    ),
""",
    before=''')
"""Measured beside those: a feature set may name them."""''',
)

SCENARIO = Insertion(
    "src/failbench/recording/faults/data.py",
    '''

@fault("at_onset")
def labels_as_floats(run: TrainingRun) -> None:
    """A new loader hands over labels as floating-point numbers."""
    _change_examples(run, lambda one: Examples(one.inputs, one.labels.float(), one.source))
''',
)

STUDY_PARAMETERS = Insertion(
    "params.yaml",
    """
agreement:
  # The feature set of the predictions.
  feature_set: "19"
  # Methods that are not asked: a simulation of people, and hybrids, which repeat their members.
  left_out: [simulated_human, hybrid, hybrid_two_way]
""",
)

STUDY_FILES = Insertion(
    "data/files.csv",
    """\
"paper/tables/agreement/agreement.{md,typ}",how often methods agree,"method, other method"
figures/agreement.svg,how often every two methods give the same answer,
data/plots/agreement.csv,the points of that map,"left, right"
data/metrics/agreement.json,how often every two methods give the same answer,"left, right"
""",
)

STUDY_ROW = Insertion(
    "studies.yaml",
    """\
  agreement: {says: Count how often two methods give a run the same answer., section: agreement,
    x: left, y: value, reads: data/reported/paper.yaml, also: data/reported/paper.yaml,
    shares: experiments/recordings.py, room: src/failbench/study}
""",
)
