"""The item-by-item table of a study's page, made from the citations of its claims:

    python tools/items.py                    # writes every page that has the table's two marks
    python tools/items.py single-location    # one
    python tools/items.py --check            # exit code 1 where a page is not what its claims say

A row is one place of the source and one row of the page, with the claims that judge it and how each
reads it. Places that no claim judges stand in `items.toml` of the study's folder, each with its
reason:

    [[item]]
    place = "Theorem 9"
    words = "a rate for vanishing noise"
    reason = "its constant is not stated, so nothing could refute it"
"""

import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from saccade.lab import index
from saccade.studies import STUDIES

BEGIN, END = "<!-- items: begin -->", "<!-- items: end -->"
NO_SOURCE = re.compile(r"none\b", re.IGNORECASE)


def natural(place: str) -> list[Any]:
    """Lemma 9 comes before Lemma 10."""
    parts = re.split(r"(\d+)", place.casefold())
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]


def cited(claims: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Claims by the place of the source that they judge and the row of the page."""
    by_item: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for claim in claims:
        place = claim["citation"]["place"]
        if place and not NO_SOURCE.match(place):
            by_item[place, claim["spec"]].append(claim)
    return by_item


def unjudged(folder: Path) -> list[dict[str, str]]:
    path = folder / "items.toml"
    return tomllib.loads(path.read_text())["item"] if path.is_file() else []


def judged_row(place: str, row: str, claims: list[dict[str, Any]]) -> str:
    named = ", ".join(
        f"`{claim['id']}` ({said(claim)})" for claim in sorted(claims, key=lambda one: one["id"]))
    return f"| {place} | {row} | {named} |"


def said(claim: dict[str, Any]) -> str:
    """The reading, what is expected if not that it holds, the scale if it has no quick one."""
    words = [claim["citation"]["reading"]]
    if claim["expected"] == "refuted":
        words.append("expected refuted")
    if "quick" not in claim["scales"]:
        words.append(claim["scales"][0])
    return ", ".join(words)


def plain(words: str) -> str:
    """Bars would end a cell."""
    return words.replace("|", "\\|")


def table(claims: list[dict[str, Any]], missing: list[dict[str, str]]) -> str:
    by_item = cited(claims)
    rows = [((place, row), judged_row(place, row, some)) for (place, row), some in by_item.items()]
    rows += [
        (
            (one["place"], ""),
            f"| {one['place']}: {plain(one['words'])} | | not judged: {plain(one['reason'])} |")
        for one in missing]
    rows.sort(key=lambda pair: (natural(pair[0][0]), natural(pair[0][1])))
    ours = len(claims) - sum(map(len, by_item.values()))
    lines = [
        "| item of the source | row | claims and how they read it |", "|---|---|---|",
        *(line for _, line in rows), "",
        f"{len(claims)} claims: {len(claims) - ours} on places of the source, {ours} with no "
        f"source but this page. Items that are not judged: {len(missing)}."]
    return "\n".join(lines)


def written(page: str, lines: str) -> str:
    """The page with its table replaced."""
    return re.sub(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{lines}\n{END}", page,
        flags=re.DOTALL)


def main(words: list[str]) -> int:
    check = "--check" in words
    stale = []
    for study in [word for word in words if word != "--check"] or list(STUDIES):
        path = index.folder(study) / "page.md"
        page = path.read_text()
        if BEGIN in page:
            new = written(page, table(index.of(study)["claims"], unjudged(path.parent)))
            if new != page:
                stale.append(study)
                check or path.write_text(new)
    for study in stale:
        print(f"{study}: {'not what its claims say' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
