"""Claims on the exact maps at generic options: encodings of another length, a scale, W11 held, the
order of the record, and what a cell of the sweep says."""

from functools import partial

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.group_sparse import cells
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.experiments import maps, options
from saccade.studies.group_sparse.theory import laws

_exact = partial(
    claim, source="ours", kind=IDENTITY, resolution=1e-9, scales={"quick": Scale(seconds=2)})
BY_QUADRATURE = "A product rule of 160 x 160 nodes is good to 1e-10 while alpha D stays below 15."
AT = (6, 3)
WHAT = (*maps.COORDINATES, "gap", "loss", "attention")

FROZEN_MAP = _exact(
    "group-sparse.six-numbers-with-two", "GS-D2",
    "With W11 held at zero the six-number map is the two-number map and no chance is left: at c ="
    " 1.75 and sigma = 1.3 its eight coordinates (gaps A = B and C = 0, columns that sum to zero),"
    " loss and attention after six and three steps, in the order asked for, are those of a plain"
    " quadrature of the definition.", BY_QUADRATURE, status="quadrature",
    experiment=options.maps_with_options, measure=lambda run: one_row(run.data.by_plain.values),
    predict=lambda run: run.data.six.values.ravel(),
    parts=tuple(f"{what}, step {step}" for step in AT for what in WHAT),
    sabotages=(
        Sabotage("free", "W11 moves.", {"feature_speed": 1.0}),
        Sabotage("other-order", "Three steps first.", {"told_record": (3, 6)})))

RECORDED = _exact(
    "group-sparse.two-numbers-recorded", "GS-D2",
    "alpha, gap, loss, S and 1 - S of the two-number map at c = 1.75 and sigma = 1.3, after six and"
    " three steps in the order asked for, are those of a plain quadrature.", BY_QUADRATURE,
    status="quadrature", experiment=options.maps_with_options,
    measure=lambda run: one_row(run.data.plain.values),
    predict=lambda run: run.data.two.values.ravel(),
    parts=tuple(f"{what}, step {step}" for step in AT for what in options.OBSERVED),
    sabotages=(
        Sabotage("other-order", "Three steps first.", {"told_record": (3, 6)}),
        Sabotage("own-length", "Told the sines' own length.", {"told_factor": 1.0})))


def _second(run: Run, factor: float | None = None) -> list[float]:
    """alpha and A by the closed form, perhaps for encodings of another length."""
    rows = [
        laws.two_steps(
            D, eta, run.parameters.scale, (own if factor is None else factor) * (D + 1) / 2)
        for D, eta, own in run.parameters.cases]
    return [number for row in rows for number in (row.alpha, row.gap)]


SECOND_STEP = _exact(
    "group-sparse.second-step-of-any-length", "GS-D3",
    "alpha and A after two steps, for encodings of another squared length c and sigma = 1.3, have"
    " the closed form to nine digits.", BY_QUADRATURE, status="quadrature",
    experiment=options.first_steps, measure=lambda run: one_row(run.data.state.values),
    predict=_second, parts=tuple(f"{what}, D={D}" for D in (4, 9) for what in ("alpha", "A")),
    sabotages=(
        Sabotage(
            "own-length", "Predict for the sines' own length.",
            predict=lambda run: _second(run, 1.0)),
        Sabotage("three", "Look after three steps.", {"steps": 3})))

SLOPES = ("own length", "c = 1.7")
COORDINATE_STEP = _exact(
    "group-sparse.step-of-coordinates", "GS-D1",
    "On any sample, not only a symmetric one, descent of every weight moves the eight coordinates"
    " by the preconditioned reduced gradient, for encodings of their own and of another length:"
    " slopes, loss and attention on the group are the same.",
    "The same sample through another program, automatic derivatives; rounding.",
    experiment=options.step_of_coordinates, measure=lambda run: one_row(run.data.layer.values),
    predict=lambda run: run.data.reduced.values.ravel(), resolution=1e-11,
    parts=tuple(
        f"{what}, {length}" for length in SLOPES
        for what in (*maps.COORDINATES, "loss", "attention")),
    sabotages=(
        Sabotage("other-group", "Another group is said to decide.", {"looked": 0}),
        Sabotage("exchanged", "Each is told the other's length.", {"told": (1.7, None)})))


def _cell(run: Run, early: int = 4, late: int = 1) -> list[float]:
    """Gap at a quarter, then gap, loss and 1 - S at the end by plain quadrature."""
    p = run.parameters
    quarter, end = options.plain_states(
        p.groups, p.step_size, (p.steps // early, p.steps // late), p.scale, 1.0)
    return [quarter[1], end[1], end[2], end[4]]


CELL = _exact(
    "group-sparse.cell-of-the-sweep", "GS-T2d",
    "A cell of the sweep says the gap after a quarter of the steps and at the end, loss and 1 - S"
    " at the end, of the position-only layer: D = 5, eta = 0.3, sigma = 1.3, 22 steps.",
    BY_QUADRATURE, status="quadrature", experiment=cells.regime,
    measure=lambda run: one_row([float(run.data[name]) for name in cells.OUTPUTS[:-1]]),
    predict=_cell, parts=("gap after a quarter", "gap", "loss", "1 - S"),
    scales={"quick": Scale({"groups": 5, "step_size": 0.3, "scale": 1.3, "steps": 22}, seconds=2)},
    sabotages=(Sabotage(
        "half-time", "Predict for half of the steps, the quarter after a third.",
        predict=lambda run: _cell(run, 3, 2)),))
