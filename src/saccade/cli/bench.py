"""`saccade bench`: speed as a ratio to a peer in the same run."""

from typing import Annotated, Any

import typer

from saccade.cli.completion import benchmarks
from saccade.cli.console import check_file, give, print_table
from saccade.cli.options import JsonFile


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks or studies; wildcards allowed. All if none.", autocompletion=benchmarks
        )] = None,
    rounds: Annotated[
        int, typer.Option(help="Interleaved rounds of ours and the peer, at least 1.")] = 7,
    json_file: JsonFile = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Small versions, for correctness only.")] = False,
) -> None:
    """Measure speed as a ratio to a peer in the same run, after a check that both do the same. Exit
    code 1 if a target is missed.

    Ratios are of CPU seconds, which a busy machine disturbs least; wall seconds are in the JSON.

    Examples:

        saccade bench

        saccade bench single-location.dimension-free --rounds 9 --json speed.json
    """
    from saccade.lab.benchmark import measure_all

    check_file(json_file)
    results = measure_all(names or [], rounds, tiny, report=lambda text: typer.echo(text, err=True))
    give("Results", results, json_file, lambda: _show(results))
    raise typer.Exit(1 if any(missed(result) for result in results) else 0)


def missed(result: dict[str, Any]) -> bool:
    """A target that was not met, or two sides that did not do the same work."""
    return result["met"] is False or not result["accuracy_reached"]


def _show(results: list[dict[str, Any]]) -> None:
    heads = (
        "benchmark", "ratio", "quartiles", "target", "met", "ours CPU s", "peer CPU s", "apart",
        "allowed", "peak MB")
    print_table("Benchmarks (CPU time)", heads, [_cells(result) for result in results])


def _cells(r: dict[str, Any]) -> tuple[str, ...]:
    met = {True: "yes", False: "no", None: "-"}[r["met"]]
    spread = f"{r['ratio_low']:.3g} .. {r['ratio_high']:.3g}"
    numbers = (
        r["ours_cpu_seconds"], r["peer_cpu_seconds"], r["accuracy"], r["tolerance"],
        r["peak_memory_mb"])
    return (
        r["id"], f"{r['ratio']:.3g}", spread, r["target"], met,
        *(f"{number:.3g}" for number in numbers))
