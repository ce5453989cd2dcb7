"""Mutants of a study, or of a room that studies share: each alters one formula in a copy of the
package, and the claims that could notice are judged, cheapest first, until one is not as expected.

Only claims that can reach the altered function are asked, the nearest and cheapest first; stored
runs are reused (an alteration makes just those runs stale that depend on it), and the first red
verdict ends the hunt.
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

from saccade.errors import InvalidInput, require, unknown
from saccade.lab import record, registry
from saccade.lab.claim import Claim
from saccade.lab.costs import JUDGING
from saccade.lab.fingerprint import rooms_read, sources
from saccade.lab.ledger import scale_for
from saccade.lab.mutants import look
from saccade.lab.mutants.reach import Place, steps
from saccade.lab.mutants.rules import Alteration, alterations, function_at
from saccade.lab.programs import THREADS
from saccade.studies import STUDIES

ROOMS = ("task", "models", "theory", "dynamics")
PACKAGE = Path(__file__).parents[2]
SHARED = ("gaussian", "convex", "descent")
"""What several studies compute with, in files of these names: judged by the claims of all."""
FAR = 9  # steps: more than most names are away from the claims that reach them
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
        return PACKAGE
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


def by_hand(path: Path) -> list[Mutant]:
    """Alterations somebody wrote down: a JSON list of objects with `study`, `file` (relative to the
    package saccade), `before`, which must stand in the file once, and `after`."""
    try:
        rows = json.loads(path.read_text())
        return [_written(row["study"], row["file"], row["before"], row["after"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InvalidInput(
            f"{path} holds no list of objects with study, file, before and after: {problem!r}."
        ) from None


def _written(study: str, file: str, before: str, after: str) -> Mutant:
    if study not in (*STUDIES, *SHARED):
        raise unknown("study", study, (*STUDIES, *SHARED))
    text = (PACKAGE / file).read_bytes()
    require(text.count(before.encode()) == 1, "before", before, f"must stand in {file} once")
    start = text.index(before.encode())
    end = start + len(before.encode())
    line = text[:start].count(b"\n") + 1
    inside = function_at(text, line)
    names = {str(place): name for name, place in files_of(study).items()}
    name = names.get(str(PACKAGE / file), file)
    return Mutant(study, name, Alteration("by hand", inside, line, start, end, before, after))


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


class Watcher(NamedTuple):
    """A claim with the source files its verdict depends on, by module, those its runs depend on,
    the number of steps to every place it reaches, and whether its experiment finds what it computes
    with in rooms of all studies."""

    claim: Claim
    judging: dict[str, Path]
    runs: set[Path]
    steps: dict[Place, int]
    finds: bool

    def distance(self, file: Path, function: str) -> int | None:
        """Steps to a function; none where it is not reached, or the verdict does not depend on its
        file. Of the top of a module, and of what a claim finds in the rooms of all studies, nothing
        is known: that is far."""
        homes = [module for module, path in self.judging.items() if path == file]
        outer, _, inner = function.partition(".")
        method = f"{outer}.{inner.split('.')[0]}"
        known = [self.steps.get((home, name)) for home in homes for name in (method, outer)]
        far = FAR if homes and (self.finds or not function) else None
        return next((steps for steps in known if steps is not None), far)

    def cost(self, file: Path) -> float:
        """Seconds: as they were measured where the run is stale, else those of judging alone."""
        published = record.published(self.claim.id, "quick") or {}
        usual = published.get("seconds") or self.claim.scales["quick"].seconds
        return JUDGING + usual * (file in self.runs)


def watchers(study: str) -> list[Watcher]:
    """The claims of a study; for a shared room those of all studies that depend on it."""
    if study in SHARED:
        file = folder_of(study) / f"{study}.py"
        return [row for one in STUDIES for row in watchers(one) if file in row.judging.values()]
    rows = []
    for module in registry.modules(f"{STUDIES[study].package}.claims"):
        for claim in registry.defined(module, Claim):
            if claim.study == study and scale_for(claim, "quick") and not claim.requires:
                home = claim.experiment.function.__module__
                runs = sources(home)
                judging = sources(module.__name__) | runs
                reached, finds = steps(claim, judging), any(rooms_read(home))
                rows.append(Watcher(claim, judging, set(runs.values()), reached, finds))
    return rows


def order(file: Path, function: str, watching: Sequence[Watcher]) -> list[str]:
    """The claims that depend on `file` and reach `function`: near and cheap ones first."""
    concerned = {
        row.claim.id: (row.cost(file) * (1 + distance), row.claim.id) for row in watching
        if (distance := row.distance(file, function)) is not None}
    return sorted(concerned, key=concerned.__getitem__)


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
    names = [row.claim.id for row in watchers(study)]
    with _Copies(hunt._replace(jobs=1, limit=None)) as copies, copies.borrowed() as copy:
        row = copy.verdict(names)
    require(
        row["outcome"] == NOT_SEEN, row["by"] or study, row["says"],
        "must be as expected before formulas are altered")


def hunt_down(
    mutants: Sequence[Mutant], hunt: Hunt, done: Callable[[dict[str, Any]], None] = lambda row: None
) -> list[dict[str, Any]]:
    """One row for each mutant: seen, not seen or equivalent, and by which claim or why."""
    known = {study: known_equivalents(study) for study in {mutant.study for mutant in mutants}}
    watching = {study: watchers(study) for study in known}
    files = {study: files_of(study) for study in known}

    def planned(mutant: Mutant) -> tuple[Mutant, Path, list[str]]:
        file = files[mutant.study].get(mutant.file, PACKAGE / mutant.file)
        return mutant, file, order(file, mutant.alteration.function, watching[mutant.study])

    def judged(plan: tuple[Mutant, Path, list[str]]) -> dict[str, Any]:
        mutant, file, names = plan
        row = mutant.describe() | {"by": None, "says": None, "judged": 0}
        reason = reason_equivalent(mutant, known[mutant.study])
        if reason is not None:
            row |= {"outcome": EQUIVALENT, "says": reason}
        elif not names:
            row |= {"outcome": NOT_SEEN, "says": "no claim computes with this function"}
        else:
            with copies.borrowed() as copy, copy.altered(file, mutant.alteration):
                row |= copy.verdict(names)
        done(row)
        return row

    plans = [planned(mutant) for mutant in mutants]  # Python 3.11 cannot read source in threads
    with _Copies(hunt) as copies, ThreadPoolExecutor(hunt.jobs) as pool:
        return list(pool.map(judged, plans))


class _Copy:
    """A copy of the package and the process that judges it. It is compiled beforehand, under hashes
    of the source: by its time and size an altered file could pass for the original."""

    def __init__(self, folder: Path, hunt: Hunt) -> None:
        self.folder, self.hunt = folder, hunt
        shutil.copytree(
            PACKAGE, folder / "saccade", ignore=shutil.ignore_patterns("__pycache__", "record"))
        compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, look.__file__, str(folder), hunt.store, str(hunt.seed)],
            env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    @contextmanager
    def altered(self, original: Path, alteration: Alteration) -> Iterator[None]:
        path = self.folder / "saccade" / original.relative_to(PACKAGE)
        text = path.read_bytes()
        path.write_bytes(alteration.applied(text))
        try:
            yield
        finally:
            path.write_bytes(text)

    def verdict(self, names: list[str]) -> dict[str, Any]:
        """What the claims say of the copy as it is."""
        told = self._asked(names)
        if told["ended"]:
            return {"outcome": SEEN, "says": f"the process died: {told['ended']}"}
        if told["red"] is None and told["late"]:
            some = ", ".join(told["late"][:3]) + (", ..." if len(told["late"]) > 3 else "")
            says = f"no verdict in time of {len(told['late'])} claims: {some}"
            return {"outcome": NOT_SEEN, "says": says, "judged": told["judged"]}
        outcome = NOT_SEEN if told["red"] is None else SEEN
        return {
            "outcome": outcome, "by": told["red"], "says": told["verdict"],
            "judged": told["judged"]}

    def _asked(self, names: list[str]) -> dict[str, Any]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout
        limit = self.hunt.limit
        claims = [[name, patience(name) if limit else None] for name in names]
        stdin.write(json.dumps({"claims": claims, "limit": limit}) + "\n")
        stdin.flush()
        return json.loads(stdout.readline() or '{"ended": "before it answered"}')


def patience(name: str) -> float:
    """Seconds after which the other claims are asked instead of this one: an altered loop may never
    end. Ten times what it usually takes, and a minute."""
    return 60 + 10 * (record.published(name, "quick") or {}).get("seconds", 0)


class _Copies:
    """One copy for each mutant that is looked at at the same time."""

    def __init__(self, hunt: Hunt) -> None:
        self.hunt = hunt
        self.free: SimpleQueue[_Copy] = SimpleQueue()
        self.all: list[_Copy] = []

    def __enter__(self) -> "_Copies":
        self.folder = TemporaryDirectory(prefix="saccade-mutants-")
        for number in range(self.hunt.jobs):
            self.all.append(_Copy(Path(self.folder.name, str(number)), self.hunt))
            self.free.put(self.all[-1])
        return self

    def __exit__(self, *problem: object) -> None:
        for copy in self.all:
            copy.process.communicate()  # its input ends, and so does it
        self.folder.cleanup()

    @contextmanager
    def borrowed(self) -> Iterator[_Copy]:
        copy = self.free.get()
        try:
            yield copy
        finally:
            self.free.put(copy)


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
