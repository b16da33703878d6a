from dataclasses import replace

import numpy as np
import pytest

from failbench.neighbours.peers import skill
from failbench.neighbours.peers.verdicts import SEVERITIES, standards

STEPS = 300


def healthy() -> skill.Curves:
    """A loss that falls with a little noise, and everything else inside the documented ranges."""
    noise = np.random.default_rng(3).normal(scale=0.02, size=STEPS)
    loss = 3.0 + 4.0 * np.exp(-np.arange(STEPS) / 80) + noise
    return skill.Curves(
        loss=loss,
        grad_norm=np.full(STEPS, 1.0),
        learning_rate=np.full(STEPS, 5e-4),
        validation=loss[9::10] + 0.05,
        training=loss[9::10],
    )


def changed(values, where, to):
    values = values.copy()
    values[where] = to
    return values


FLAT = np.concatenate([np.linspace(9, 3, STEPS - 15), np.linspace(3, 2.999, 15)])
"""Falls fast, then so slowly that its slope is the smallest of all in fifteen steps."""

FAULTY = {
    "loss_not_finite": replace(healthy(), loss=changed(healthy().loss, slice(200, None), np.nan)),
    "loss_explosion": replace(healthy(), loss=changed(healthy().loss, 299, 2e6)),
    # 20 % above a loss that lay still, as far as noise goes
    "loss_divergence": replace(
        healthy(), loss=changed(healthy().loss, 250, healthy().loss[250] * 1.2)
    ),
    "loss_degrading": replace(healthy(), loss=healthy().loss[::-1]),
    "gradient_explosion": replace(healthy(), grad_norm=changed(np.ones(STEPS), 40, 10.5)),
    "gradient_vanishing": replace(healthy(), grad_norm=changed(np.ones(STEPS), 40, 0.009)),
    "loss_stagnation": replace(healthy(), loss=changed(healthy().loss, slice(250, None), 3.0)),
    "loss_plateau": replace(healthy(), loss=FLAT),
    "overfitting": replace(healthy(), training=healthy().validation * 0.8),
    "learning_rate_high": replace(healthy(), learning_rate=np.full(STEPS, 2e-3)),
    "learning_rate_low": replace(healthy(), learning_rate=np.full(STEPS, 5e-5)),
    "loss_noise": replace(healthy(), loss=healthy().loss * np.tile([0.5, 1.5], STEPS // 2)),
}


@pytest.mark.parametrize("issue", FAULTY)
def test_an_issue_is_found_where_its_threshold_is_passed(issue):
    assert issue in skill.reading_of_curves(FAULTY[issue]).issues
    assert skill.reading_of_curves(healthy()).issues == ()


def test_every_issue_of_the_rules_is_tried_and_names_what_there_is():
    assert set(FAULTY) == {rule.issue for rule in skill.skill_rules()}
    for rule in skill.skill_rules():
        assert rule.confirmed_by <= set(FAULTY)
        assert rule.severity in SEVERITIES
        assert not rule.fires(skill.Curves(*[np.empty(0)] * 5))


def test_two_issues_that_confirm_each_other_are_direct_evidence_and_a_hint_alone_detects_nothing():
    assert skill.reading_of_curves(FAULTY["loss_divergence"]).confidences == (0.80,)
    grads = FAULTY["gradient_explosion"].grad_norm
    both = skill.reading_of_curves(replace(FAULTY["loss_divergence"], grad_norm=grads))
    confidences = dict(zip(both.issues, both.confidences, strict=True))
    assert confidences == {"loss_divergence": 0.95, "gradient_explosion": 0.95}
    (hint,) = skill.reading_of_curves(FAULTY["learning_rate_high"]).confidences
    assert (
        hint
        < float(standards()[skill.PEER].detects_from)
        < float(standards()[skill.PEER].commits_from)
    )
