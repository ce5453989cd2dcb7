"""`saccade plan sparse-token`: how many samples does a target error need? Imports nothing heavy,
and nothing of the command line, which imports this, until a command is called."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saccade.errors import require

if TYPE_CHECKING:
    from saccade.studies.sparse_token.theory import GridReport, Need, Plan

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def plan_samples(
    length: Annotated[int, typer.Option(help="Number L of tokens.")],
    target_error: Annotated[float, typer.Option(help="Test error to reach.")],
    signal: Annotated[float, typer.Option(help="Signal strength theta.")],
    informative: Annotated[int, typer.Option(help="Number R of informative tokens.")] = 1,
    positive_rate: Annotated[float, typer.Option(help="Share pi of positive samples.")] = 0.5,
    as_json: AsJson = False,
    curve: Annotated[
        str | None,
        typer.Option(help="Draw error against samples: FILE.pdf, .png or .svg (about 10 s)."),
    ] = None,
) -> None:
    """Samples per dimension that attention, pooled and vectorised classifiers need for a target
    error, or why none suffice.

    Examples:

        saccade plan sparse-token --length 10 --signal 5 --target-error 0.05

        saccade plan sparse-token --length 10 --signal 5 --target-error 0.05 --json

        saccade plan sparse-token --length 4 --signal 3 --target-error 0.25 --curve plan.png
    """
    from saccade.cli.progress import busy
    from saccade.lab.figure import check_output
    from saccade.studies.sparse_token.task import SparseTokenSetting
    from saccade.studies.sparse_token.theory import plan

    if curve is not None:
        check_output(curve)
    setting = SparseTokenSetting(length, informative, positive_rate, signal)
    with busy("planning", 5.0 if curve is None else 15.0):
        made = plan(setting, target_error)
        values = None if curve is None else curve_values(made)
    if as_json:
        typer.echo(json.dumps(as_dictionary(made) | ({} if values is None else {"curve": values})))
    else:
        typer.echo(as_text(made))
    if curve is not None and values is not None:
        typer.echo(f"Curve: {draw_curve(made, values, curve)}", err=as_json)


def check_solver(
    cases: Annotated[
        int, typer.Option(help="How many cases, drawn from the whole domain, ends included.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Another seed draws other cases.")] = 0,
    model: Annotated[str, typer.Option(help="attention, pooled or vectorised.")] = "attention",
    loss: Annotated[str, typer.Option(help="logistic or square.")] = "logistic",
    as_json: AsJson = False,
) -> None:
    """How often the equations behind the plan are solved, over their whole declared domain, and the
    slowest case.

    Exit code 0 if every case converged, 1 if not.

    Examples:

        saccade plan check-solver

        saccade plan check-solver --cases 500 --seed 3 --model pooled --json
    """
    from saccade.cli.progress import busy
    from saccade.studies.sparse_token.theory import check_grid

    require(cases >= 1, "cases", cases, "must be at least 1")
    require(seed >= 0, "seed", seed, "must be at least 0")
    with busy(f"solving {cases} cases"):
        report = check_grid(cases, seed, model, loss)
    words = report._asdict() | {"fraction_converged": report.converged / report.cases}
    typer.echo(json.dumps(words) if as_json else solver_text(report))
    if report.converged < report.cases:
        raise typer.Exit(1)


def solver_text(report: "GridReport") -> str:
    """The fraction, the slowest case, and every failure."""
    share = 100 * report.converged / report.cases
    head = (
        f"Converged: {report.converged} of {report.cases} cases ({share:.4g} %), largest relative"
        f" residual {report.worst_residual:.1e}.\nSlowest: {report.slowest_seconds:.2f} s of"
        f" processor time (median {report.median_seconds:.2f} s) at {_named(report.slowest)}.")
    return "\n".join([head, *(f"Not converged: {_named(case)}." for case in report.failures)])


def _named(case: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in case.items())


def as_dictionary(made: "Plan") -> dict[str, Any]:
    """The plan as plain values; a model that no number helps has null samples and a reason."""
    needs = {
        item.model: {
            "samples_per_dim": item.samples_per_dim, "test_error": item.error,
            "limit_error": item.limit, "status": item.status, "reason": item.reason or None,
            "how": None if item.choice is None else item.choice._asdict()}
        for item in made.needs}
    return asdict(made.setting) | {
        "target_error": made.target_error, "bayes_error": made.bayes_error, "models": needs}


def as_text(made: "Plan") -> str:
    """A few plain sentences."""
    setting = made.setting
    head = (
        f"L = {setting.length}, R = {setting.informative}, pi = {setting.positive_rate:g}, theta ="
        f" {setting.signal:g}: test error {made.target_error:g} (no classifier does better than"
        f" {made.bayes_error:.4g}).")
    return "\n".join([head, *(f"  {item.model:11}{_sentence(item)}" for item in made.needs)])


def _sentence(item: "Need") -> str:
    if item.samples_per_dim is None or item.choice is None:
        return f"no number of samples suffices: {item.reason}."
    text = (
        f"{item.samples_per_dim:.3g} samples per dimension (ridge {item.choice.ridge:.2g}; error"
        f" {item.error:.4g})")
    if item.model == "attention":
        how = item.choice
        text += (
            f", {how.query_samples_per_dim:.3g} of them for the two gradient steps with eta_q ="
            f" {how.eta_q:.3g} (cosine {how.alignment:.3f}, sharpness {how.sharpness:.2f})")
    return text + ("." if item.status == "converged" else f"; {item.status}: {item.reason}.")


def curve_values(made: "Plan") -> dict[str, list[float]]:
    """Best error of every model against samples per dimension, around the answers."""
    import numpy as np

    from saccade.studies.sparse_token.theory import best_errors

    found = [item.samples_per_dim for item in made.needs if item.samples_per_dim is not None]
    low, high = (0.25 * min(found), 4 * max(found)) if found else (0.5, 64.0)
    alphas = np.geomspace(low, high, 9).tolist()
    return {"samples_per_dim": alphas} | {
        item.model: best_errors(made.setting, item.model, alphas) for item in made.needs}


def draw_curve(made: "Plan", values: dict[str, list[float]], path: str) -> Any:
    """The curve as a figure file."""
    import matplotlib
    import matplotlib.pyplot as plt

    from saccade.lab.figure import save
    from saccade.lab.style import BLUE, GREEN, GREY, ORANGE, STYLE

    with matplotlib.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(5.4, 3.4))
        for item, colour in zip(made.needs, (BLUE, ORANGE, GREEN), strict=False):
            axes.plot(values["samples_per_dim"], values[item.model], color=colour, label=item.model)
            if item.samples_per_dim is not None and item.error is not None:
                axes.plot(item.samples_per_dim, item.error, "o", color=colour)
        axes.axhline(made.target_error, color="black", linestyle="--", linewidth=1, label="target")
        axes.axhline(made.bayes_error, color=GREY, linestyle=":", linewidth=1, label="Bayes")
        axes.set(
            xscale="log", yscale="log", xlabel="samples per dimension n/d", ylabel="best test error"
        )
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return save(figure, path)


COMMANDS = {"sparse-token": plan_samples, "check-solver": check_solver}
