"""Mutants of a study, or of a room that studies share: each alters one formula in a copy of the
package, and the claims that could notice are judged, cheapest first, until one is not as expected.

Only claims whose code contains the altered file are asked, stored runs are reused (an alteration
makes just those runs stale that depend on it), and the first red verdict ends the hunt.
"""

import compileall
import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from saccade.errors import require
from saccade.lab import registry
from saccade.lab.claim import Claim
from saccade.lab.fingerprint import sources
from saccade.lab.ledger import scale_for
from saccade.lab.mutants.rules import Alteration, alterations
from saccade.lab.programs import THREADS
from saccade.studies import STUDIES

ROOMS = ("task", "models", "theory", "dynamics")
SHARED = ("gaussian", "convex", "descent")
"""What several studies compute with, in files of these names: judged by the claims of all."""
SEEN, NOT_SEEN, EQUIVALENT = "seen", "not seen", "equivalent"


class Mutant(NamedTuple):
    """One alteration of one file; `study` is a study or one of `SHARED`, and `file` is relative to
    its folder, or begins with the name of a package that the study judges."""

    study: str
    file: str
    alteration: Alteration

    @property
    def room(self) -> str:
        return _room(self.file)

    def describe(self) -> dict[str, Any]:
        words = self.alteration._asdict()
        return {"study": self.study, "room": self.room, "file": self.file} | {
            name: words[name] for name in ("rule", "function", "line", "start", "before", "after")}


def folder_of(study: str) -> Path:
    """The folder of a study: where its `study.py` lies; of a shared room the package itself."""
    if study in SHARED:
        return Path(__file__).parents[2]
    return sources(f"{STUDIES[study].package}.study")[f"{STUDIES[study].package}.study"].parent


def files_of(study: str) -> dict[str, Path]:
    """What may be altered: the rooms of the study, and the packages it judges as far as a claim
    computes with them."""
    folder = folder_of(study)
    if study in SHARED:
        return {f"{study}.py": folder / f"{study}.py"}
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.py"))}
    files = {name: path for name, path in files.items() if _room(name) in ROOMS}
    for package in STUDIES[study].judges:
        around = package.rpartition(".")[0] + "."
        files |= {
            f"{name.removeprefix(around).replace('.', '/')}.py": path
            for name, path in sources(STUDIES[study].room("claims")).items()
            if name.startswith(package)}
    return files


def _room(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def mutants_of(study: str, count: int, seed: int = 0) -> list[Mutant]:
    """`count` alterations of a study's formulas, drawn by `seed`, one room after the other so that
    small rooms have their share."""
    require(count >= 1, "count", count, "must be at least 1")
    by_room: dict[str, list[Mutant]] = defaultdict(list)
    for file, path in files_of(study).items():
        for alteration in alterations(path.read_bytes()):
            by_room[_room(file)].append(Mutant(study, file, alteration))
    draw = random.Random(f"{study}/{seed}")
    drawn = {room: draw.sample(found, min(count, len(found))) for room, found in by_room.items()}
    return _shared_out(drawn, count)


def _shared_out(by_room: dict[str, list[Mutant]], count: int) -> list[Mutant]:
    """One of each room in turn, until there are `count` or no more."""
    longest = max(map(len, by_room.values()), default=0)
    turns = [mutants[turn : turn + 1] for turn in range(longest) for mutants in by_room.values()]
    return [mutant for turn in turns for mutant in turn][:count]


def known_equivalents(study: str) -> list[dict[str, str]]:
    """Alterations that change nothing a claim could measure, each with its reason: the entries of
    `mutants.toml` in the study's folder, or in that of all (file, function, before, after, reason).
    """
    path = folder_of(study) / "mutants.toml"
    return tomllib.loads(path.read_text())["equivalent"] if path.is_file() else []


def reason_equivalent(mutant: Mutant, known: list[dict[str, str]]) -> str | None:
    words = mutant.describe()
    for entry in known:
        if all(entry[name] == words[name] for name in ("file", "function", "before", "after")):
            return entry["reason"]
    return None


def watchers(study: str) -> list[tuple[Claim, set[str], set[str]]]:
    """Each claim with the source files its verdict depends on, and those its runs depend on; for a
    shared room the claims of all studies that depend on it."""
    if study in SHARED:
        file = str(folder_of(study) / f"{study}.py")
        return [row for one in STUDIES for row in watchers(one) if file in row[1]]
    package = STUDIES[study].package
    rows = []
    for module in registry.modules(f"{package}.claims"):
        judging = set(map(str, sources(module.__name__).values()))
        for claim in registry.defined(module, Claim):
            runs = set(map(str, sources(claim.experiment.function.__module__).values()))
            if claim.study == study and scale_for(claim, "quick") and not claim.requires:
                rows.append((claim, judging | runs, runs))
    return rows


def order(file: str, watching: Sequence[tuple[Claim, set[str], set[str]]]) -> list[str]:
    """The claims that depend on `file`: first those whose stored runs stay valid, then by cost."""
    concerned = [(file in runs, claim) for claim, judging, runs in watching if file in judging]
    concerned.sort(key=lambda pair: (pair[0], pair[1].scales["quick"].seconds, pair[1].id))
    return list(dict.fromkeys(claim.id for _, claim in concerned))


class Hunt(NamedTuple):
    """How mutants are hunted: the store of the unaltered runs, seed of the claims, seconds a
    mutant may take (one without a verdict by then counts as not seen: on a slow machine a survivor
    would pass for seen), and how many at once."""

    store: str
    seed: int = 0
    limit: float | None = 900.0
    jobs: int = 1


def check_unaltered(study: str, hunt: Hunt) -> None:
    """Every claim must be as expected in an unaltered copy, so that a red one has one cause; this
    also fills the store."""
    names = [claim.id for claim, *_ in watchers(study)]
    with _Copies(1) as copies, copies.borrowed() as copy:
        row = _verdict(names, copy, hunt._replace(limit=None))
    require(
        row["outcome"] == NOT_SEEN, row["by"] or study, row["says"],
        "must be as expected before formulas are altered")


def hunt_down(
    mutants: Sequence[Mutant], hunt: Hunt, done: Callable[[dict[str, Any]], None] = lambda row: None
) -> list[dict[str, Any]]:
    """One row for each mutant: seen, not seen or equivalent, and by which claim or why."""
    known = {study: known_equivalents(study) for study in {mutant.study for mutant in mutants}}
    watching = {study: watchers(study) for study in known}

    def judged(mutant: Mutant) -> dict[str, Any]:
        row = mutant.describe() | {"by": None, "says": None, "judged": 0}
        reason = reason_equivalent(mutant, known[mutant.study])
        if reason is not None:
            row |= {"outcome": EQUIVALENT, "says": reason}
        else:
            with copies.borrowed() as package:
                row |= _looked_at(mutant, watching[mutant.study], package, hunt)
        done(row)
        return row

    with _Copies(hunt.jobs) as copies, ThreadPoolExecutor(hunt.jobs) as pool:
        return list(pool.map(judged, mutants))


class _Copies:
    """Copies of the package, one for each mutant that is looked at at the same time. They are
    compiled beforehand, under hashes of the source: by its time and size an altered file could pass
    for the original."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.free: SimpleQueue[Path] = SimpleQueue()

    def __enter__(self) -> "_Copies":
        self.folder = TemporaryDirectory(prefix="saccade-mutants-")
        original = Path(__file__).parents[2]
        for number in range(self.count):
            copy = Path(self.folder.name, str(number))
            shutil.copytree(
                original, copy / "saccade", ignore=shutil.ignore_patterns("__pycache__", "record"))
            compileall.compile_dir(
                copy, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
            self.free.put(copy)
        return self

    def __exit__(self, *problem: object) -> None:
        self.folder.cleanup()

    @contextmanager
    def borrowed(self) -> Iterator[Path]:
        copy = self.free.get()
        try:
            yield copy
        finally:
            self.free.put(copy)


def _looked_at(
    mutant: Mutant, watching: list[tuple[Claim, set[str], set[str]]], copy: Path, hunt: Hunt
) -> dict[str, Any]:
    original = files_of(mutant.study)[mutant.file]
    names = order(str(original), watching)
    if not names:
        return {"outcome": NOT_SEEN, "says": "no claim computes with this file"}
    altered = copy / "saccade" / original.relative_to(Path(__file__).parents[2])
    text = altered.read_bytes()
    altered.write_bytes(mutant.alteration.applied(text))
    try:
        return _verdict(names, copy, hunt)
    finally:
        altered.write_bytes(text)


def _verdict(names: list[str], copy: Path, hunt: Hunt) -> dict[str, Any]:
    environment = (
        os.environ | dict.fromkeys(THREADS, "1")
        | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"})
    command = [sys.executable, "-m", "saccade.lab.mutants.look", hunt.store, str(hunt.seed), *names]
    try:
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=hunt.limit)
    except subprocess.TimeoutExpired:
        return {
            "outcome": NOT_SEEN,
            "says": f"no verdict within {hunt.limit:g} s: a larger limit may tell"}
    if answer.returncode:
        return {"outcome": SEEN, "says": answer.stderr.strip().splitlines()[-1][:200]}
    told = json.loads(answer.stdout.splitlines()[-1])
    outcome = SEEN if told["red"] else NOT_SEEN
    return {
        "outcome": outcome, "by": told["red"], "says": told["verdict"], "judged": told["judged"]}


def table(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts by study and room, and for each study as a whole."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        groups[row["study"], row["room"]].append(row["outcome"])
        groups[row["study"], "all"].append(row["outcome"])
    counted = []
    for (study, room), outcomes in groups.items():
        counts = {word: outcomes.count(word) for word in (SEEN, NOT_SEEN, EQUIVALENT)}
        alive = counts[SEEN] + counts[NOT_SEEN]
        counted.append({
            "study": study, "room": room, **counts,
            "share": counts[SEEN] / alive if alive else None})
    return counted
