"""What a reader types to get a claim or a figure again: the command, the Python lines, the
citation."""

from collections.abc import Mapping
from typing import Any

import saccade
from saccade.studies import STUDIES


def _scale(row: Mapping[str, Any]) -> str:
    """The scale at which the claim runs: for a waiting one, the scale it waits for."""
    needs = row["needs"] if isinstance(row["needs"], Mapping) else {}
    return needs.get("scale") or row["scale"] or "quick"


def command(row: Mapping[str, Any]) -> str:
    words = ["saccade", "verify", row["id"]]
    words += ["--scale", _scale(row)] if _scale(row) != "quick" else []
    words += ["--seed", str(row["seed"])] if row["seed"] else []
    words += ["--sabotage"] if any(item["verdict"] is not None for item in row["sabotages"]) else []
    return " ".join(words)


def python_lines(row: Mapping[str, Any]) -> str:
    options = f', scale="{_scale(row)}"' if _scale(row) != "quick" else ""
    options += f", seed={row['seed']}" if row["seed"] else ""
    options += (
        ", sabotage=True" if any(item["verdict"] is not None for item in row["sabotages"]) else "")
    return (
        f'import saccade\n\n[row] = saccade.verify("{row["id"]}"{options})\n'
        'print(row["verdict"], row["prediction"], row["measurement"])')


def figure_command(id: str, scale: str, seed: int) -> str:
    options = (f" --scale {scale}" if scale != "quick" else "") + (
        f" --seed {seed}" if seed else "")
    return f"saccade figure {id}{options} -o {id.rsplit('/', 1)[-1]}.pdf"


def citation(study: str) -> str:
    """BibTeX of the paper, where the study is a known one, and of this library."""
    paper = [STUDIES[study].bibtex] if study in STUDIES else []
    library = (
        "@software{saccade,\n  title = {saccade: when does attention learn where to look?},\n"
        f"  author = {{{{The saccade authors}}}},\n  version = {{{saccade.__version__}}}\n}}")
    return "\n\n".join([*paper, library])
