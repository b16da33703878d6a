import pytest

from measured_child import MeasuredChild, Works, can_measure

MEBIBYTE = 2**20


def takes_memory(mebibytes: int) -> Works:
    return {"fill": lambda: len(b"1" * (mebibytes * MEBIBYTE)), "rest": lambda: None}


@pytest.mark.skipif(not can_measure(), reason="memory is read from Linux's /proc")
def test_peak_memory_is_that_of_the_work_and_is_forgotten_before_the_next():
    child = MeasuredChild(takes_memory, size=200, warm_up=1)
    peaks = {}
    for work in ("fill", "rest"):
        child.prepare(work)
        peaks[work] = child.do(work).peak_mib
    child.close()
    assert 195 < peaks["fill"] - peaks["rest"] < 205
