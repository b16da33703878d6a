"""What a script that measures is written in (``st``): nothing that scores or draws."""

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
from failbench.base.studies import *
from failbench.base.telemetry import STEP_SCHEMA as STEP_SCHEMA
from failbench.base.telemetry import Telemetry as Telemetry
from failbench.base.telemetry import categories_of as categories_of
from failbench.base.telemetry import read_telemetry as read_telemetry
from failbench.base.telemetry import write_parquet as write_parquet
from failbench.base.vocabulary import *
from failbench.base.workers import *
