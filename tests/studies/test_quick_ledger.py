"""The whole quick ledger with its controls: every verdict is the expected one, every sabotage is
refuted and every part broken, every repair holds."""

import pytest

from saccade.lab.ledger import Conditions, evaluate, reasons
from saccade.lab.registry import claims

# What `make test` installs: a claim that needs one of these must be judged here. Peers and data
# sets may be absent.
INSTALLED = ("nlp",)
SHOWN = ("part", "prediction", "measurement", "interval", "resolution")


def by_experiment():
    """Claims on one experiment share a group, so that one worker makes and keeps the runs they have
    in common."""
    return [
        pytest.param(claim, id=claim.id, marks=pytest.mark.xdist_group(claim.experiment.id))
        for claim in claims()]


@pytest.mark.slow
@pytest.mark.parametrize("claim", by_experiment())
def test_the_verdict_is_the_expected_one_and_controls_show(claim):
    row = evaluate(claim, Conditions(sabotage=True))
    if row["verdict"] == "waiting":
        assert row["needs"].get("extra") not in INSTALLED, (
            f"{claim.id} lacks an extra that the tests install")
        return
    assert not reasons(row), {name: row[name] for name in SHOWN}
