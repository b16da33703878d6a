from __future__ import annotations

import pytest

from failbench.methods.llm.record import END_SIGNALS, MONITOR_SIGNALS, SIGNALS, signal_named
from failbench.monitor.invariants import CATALOGUE


def test_every_signal_is_found_by_its_own_name_and_by_the_aliases_that_no_other_has():
    for signal in SIGNALS:
        assert signal_named(signal.name) is signal
        for alias in signal.aliases:
            first = next(item for item in SIGNALS if alias in (*item.aliases, item.name))
            assert signal_named(alias) is first


@pytest.mark.parametrize(
    ("cited", "name"),
    [
        ("Gradient Norm", "gradient_norm"),
        ("max_gradient_norm", "gradient_norm"),
        ("gradient-norm at step 120", "gradient_norm"),
        ("peak memory", "memory"),
        ("memory (fraction)", "memory"),
        ("max_length", "max_length"),
        ("OOV rate", "unknown_share"),
        ("error message", "error_message"),
    ],
)
def test_signals_are_recognised_as_people_and_models_write_them(cited, name):
    actual = signal_named(cited)
    assert actual is not None
    assert actual.name == name


def test_a_signal_of_the_monitor_speaks_for_the_components_of_its_invariants():
    for signal in MONITOR_SIGNALS[len(END_SIGNALS) :]:
        components = {each.component for each in CATALOGUE if each.signal == signal.name}
        assert set(signal.categories) == components
        assert signal.source
