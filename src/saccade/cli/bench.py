"""`saccade bench`: speed as a ratio to a peer in the same run, and how cost grows with size."""

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
    results_file: Annotated[
        str | None,
        typer.Option("--from", help="Measure nothing: take the results of this JSON file.")] = None,
    against_file: Annotated[
        str | None,
        typer.Option(
            "--against", help="Compare with this JSON file; exit code 1 if a ratio fell by a third."
        )] = None,
    page: Annotated[
        str | None,
        typer.Option(help="Write the tables into this page, such as docs/benchmarks.md.")] = None,
) -> None:
    """Measure speed as a ratio to a peer in the same run, after a check that both do the same, and
    the exponents with which cost grows. Exit code 1 if a target is missed.

    Ratios are of CPU seconds, which a busy machine disturbs least; wall seconds are in the JSON.

    Examples:

        saccade bench --json speed.json

        saccade bench single-location.dimension-free --rounds 9

        saccade bench --from speed.json --against older.json

        saccade bench --from speed.json --page docs/benchmarks.md
    """
    from saccade.lab import benchmark_files as files
    from saccade.lab.benchmark import measure_all

    check_file(json_file)
    check_file(page)
    old = files.read_results(against_file) if against_file else None
    results = (
        files.read_results(results_file) if results_file
        else measure_all(names or [], rounds, tiny, report=lambda text: typer.echo(text, err=True)))
    give("Results", results, json_file, lambda: _show(results))
    changes = files.against(results, old) if old is not None else []
    if old is not None and json_file != "-":
        _show_changes(changes)
    if page:
        files.write_page(page, results)
        typer.echo(f"Page: {page}")
    failed = any(missed(result) for result in results) or any(item.worse for item in changes)
    raise typer.Exit(1 if failed else 0)


def missed(result: dict[str, Any]) -> bool:
    """A target that was not met, or two sides that did not do the same work."""
    return result["met"] is False or not result.get("accuracy_reached", True)


def _show(results: list[dict[str, Any]]) -> None:
    ratios = [result for result in results if "ratio" in result]
    exponents = [result for result in results if "exponent" in result]
    if ratios or not results:
        heads = (
            "benchmark", "ratio", "quartiles", "target", "met", "ours CPU s", "peer CPU s", "apart",
            "allowed", "peak MB")
        print_table("Benchmarks (CPU time)", heads, [_cells(result) for result in ratios])
    if exponents:
        heads = ("benchmark", "exponent", "quartiles", "in", "target", "met", "CPU s")
        print_table("Growth of CPU time", heads, [_growth_cells(result) for result in exponents])


def _cells(r: dict[str, Any]) -> tuple[str, ...]:
    spread = f"{r['ratio_low']:.3g} .. {r['ratio_high']:.3g}"
    numbers = (
        r["ours_cpu_seconds"], r["peer_cpu_seconds"], r["accuracy"], r["tolerance"],
        r["peak_memory_mb"])
    return (
        r["id"], f"{r['ratio']:.3g}", spread, r["target"], _met(r),
        *(f"{number:.3g}" for number in numbers))


def _growth_cells(r: dict[str, Any]) -> tuple[str, ...]:
    spread = f"{r['exponent_low']:.2f} .. {r['exponent_high']:.2f}"
    seconds = ", ".join(f"{value:.3g}" for value in r["cpu_seconds"])
    return r["id"], f"{r['exponent']:.2f}", spread, r["axis"], r["target"], _met(r), seconds


def _met(result: dict[str, Any]) -> str:
    return {True: "yes", False: "no", None: "-"}[result["met"]]


def _show_changes(changes: list[Any]) -> None:
    rows = [
        (item.id, item.what, f"{item.old:.3g}", f"{item.new:.3g}", "worse" if item.worse else "")
        for item in changes]
    print_table("Against the earlier file", ("benchmark", "of", "old", "new", ""), rows)
    worse = sum(item.worse for item in changes)
    typer.echo(f"{len(changes)} rows compared, {worse} worse by more than a third.")
