"""What a study is written in, as one namespace: ``from failbench import study as st``.

Inputs and settings, statistics, estimates, tables and captions as data, what things are called and
how they are drawn, and publication.
"""

from failbench.base.arrays import *
from failbench.base.errors import *
from failbench.base.method_settings import *
from failbench.base.methods import *
from failbench.base.predictions import *
from failbench.base.records import *
from failbench.base.scenarios import *
from failbench.base.slices import ReferenceStudy as ReferenceStudy
from failbench.base.slices import RunSetting as RunSetting
from failbench.base.stage import *
from failbench.base.vocabulary import *
from failbench.base.workers import *
from failbench.statistics.agreement import *
from failbench.statistics.bootstrap import *
from failbench.statistics.confidence import *
from failbench.statistics.intervals import *
from failbench.statistics.lead import *
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
from failbench.study.plain_table import *
from failbench.study.publication import *
from failbench.study.scope import *
from failbench.study.style import *
from failbench.study.tables import *
