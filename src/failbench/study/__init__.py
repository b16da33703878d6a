"""What a study is written in, as one namespace: ``from failbench import study as st``."""

from failbench.base.measuring import *
from failbench.statistics.agreement import *
from failbench.statistics.bootstrap import *
from failbench.statistics.confidence import *
from failbench.statistics.intervals import *
from failbench.statistics.metrics import *
from failbench.statistics.paired_tests import *
from failbench.statistics.pairs import *
from failbench.statistics.scenario_values import *
from failbench.statistics.settings import *
from failbench.statistics.significance import *
from failbench.statistics.thresholds import *
from failbench.study.captions import *
from failbench.study.cells import *
from failbench.study.estimates import *
from failbench.study.inputs import *
from failbench.study.labels import *
from failbench.study.paper_numbers import *
from failbench.study.picture import *
from failbench.study.publication import *
from failbench.study.style import *
from failbench.study.tables import *
