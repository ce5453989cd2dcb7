"""Asks calculators and the command line for what nobody should: extreme numbers, wrong types,
ragged lists, random words. Each case must end in an answer or in one sentence, within 20 seconds
of this process (a busy machine may take longer).

    python tools/fuzz.py --count 10000 --seed 0      # everything
    python tools/fuzz.py --only sparse-token.fit     # calculators by name, wildcards allowed
    python tools/fuzz.py --only commands             # the command line alone
    python tools/fuzz.py --seed 0 --case 4711        # one case again, with its traceback

A case depends on the seed and its number alone. Exit code 1 if any case failed.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, get_args

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "src")]

from fuzz_commands import command_line  # noqa: E402

from saccade.errors import Diverged, InvalidInput, shown  # noqa: E402
from saccade.lab import registry  # noqa: E402
from saccade.lab.calculator import Calculator  # noqa: E402

MOST_SECONDS = 20.0  # of this process
LONGEST = 10 * MOST_SECONDS  # by the clock: what sleeps takes no seconds of its process
MOST_MEMORY = 8 * 2**30  # bytes; a size that fills the machine must fail here, not in the kernel
COMMANDS = "commands"
SHARE_OF_COMMANDS = 0.1

NUMBERS = (
    0.0, -0.0, 5e-324, 1e-308, 2.3e-308, 1e-200, 1e-100, 1e-16, 1e-3, 0.5, 1 - 1e-16, 1.0,
    1 + 1e-15, 2.0, 10.0, 1e3, 1e6, 1e16, 1e100, 1e154, 1e200, 1e308, 1.7e308, -5e-324, -1e-308,
    -0.5, -1.0, -1e100, -1e308)
WHOLE = (0, 1, 2, 3, 5, 17, 100, 1000, 10**6, 2**31, 2**53, 2**63, 10**30, 10**400, -1, -(10**9))
WRONG = (
    None, True, False, "word", "", "1", [], [[]], [1.0], [[1.0], [1.0, 2.0]], {}, {"a": 1},
    float("nan"), float("inf"), -float("inf"), 1.5)


class Case(NamedTuple):
    """What is asked: a calculator's inputs, or the words of a command line."""

    name: str
    asked: Any

    def __str__(self) -> str:
        if self.name == COMMANDS:
            return "saccade " + " ".join(repr(word) for word in self.asked)
        inputs = ", ".join(f"{name}={_short(value)}" for name, value in self.asked.items())
        return f"calc({self.name!r}, {inputs})"


class Failure(NamedTuple):
    number: int
    case: Case
    problem: str
    place: str
    details: str


class TooLong(BaseException):
    """Not an Exception: what is asked must not catch it."""


# -- what is asked


def draw_case(seed: int, number: int, calculators: Sequence[Calculator], commands: bool) -> Case:
    chance = random.Random(f"{seed}/{number}")
    if commands and (not calculators or chance.random() < SHARE_OF_COMMANDS):
        return Case(COMMANDS, command_line(chance, _offered()))
    item = chance.choice(calculators)
    return Case(item.id, draw_inputs(chance, item))


@cache
def _offered() -> dict[str, list[str]]:
    kinds = ("claims", "figures", "calculators", "experiments", "sweeps", "benchmarks")
    return {kind: [item.id for item in getattr(registry, kind)()] for kind in kinds}


def draw_inputs(chance: random.Random, item: Calculator) -> dict[str, Any]:
    """The calculator's example with one or a few inputs altered; now and then one is missing or
    unknown."""
    fields = item.inputs.model_fields
    asked = dict(item.example)
    names = list(fields)
    for name in chance.sample(names, min(len(names), chance.choice((1, 1, 1, 2, 3, len(names))))):
        asked[name] = draw_value(chance, fields[name], asked.get(name))
    if asked and chance.random() < 0.03:
        asked.pop(chance.choice(sorted(asked)))
    if chance.random() < 0.02:
        asked["unknown"] = 1.0
    return asked


def draw_value(chance: random.Random, info: Any, usual: Any) -> Any:
    """A value for one declared input: mostly of its own type, at the edges of what it can hold."""
    if chance.random() < 0.1:
        return chance.choice(WRONG)
    declared = str(info.annotation)
    if "Literal" in declared and chance.random() < 0.8:
        return chance.choice(_words(info.annotation) or ["word"])
    if isinstance(usual, list) and usual:
        return _altered(chance, usual)
    if isinstance(usual, bool):
        return chance.choice((True, False))
    if isinstance(usual, dict) and usual:
        name = chance.choice(sorted(usual))
        return {**usual, name: draw_value(chance, info, usual[name])}
    if "int" in declared and "float" not in declared and chance.random() < 0.8:
        return _near_edges(chance, info, WHOLE)
    if isinstance(usual, str):
        return chance.choice((usual, "word", "", usual.upper()))
    return _near_edges(chance, info, NUMBERS)


def _words(annotation: Any) -> list[Any]:
    inner = [word for part in get_args(annotation) for word in _words(part)]
    return inner or ([annotation] if isinstance(annotation, str | int | bool) else [])


def _near_edges(chance: random.Random, info: Any, usual: Sequence[Any]) -> Any:
    """One of the usual extremes, the declared ends of the range, or any size at all."""
    ends = [
        end for rule in info.metadata for word in ("ge", "gt", "le", "lt")
        if (end := getattr(rule, word, None)) is not None]
    kind = chance.random()
    if ends and kind < 0.3:
        end = chance.choice(ends)
        return chance.choice((end, end + 1, end - 1, end * (1 + 1e-15), end + 5e-324))
    if kind < 0.5 and usual is NUMBERS:
        return chance.choice((1, 1, 1, -1)) * 10.0 ** chance.uniform(-323, 308)
    return chance.choice(usual)


def _altered(chance: random.Random, values: list[Any]) -> Any:
    """A list with an entry changed, one more, one fewer, all alike, or nothing in it."""
    copy = list(values)
    place = chance.randrange(len(copy))
    way = chance.randrange(8)
    if way < 4:
        deeper = isinstance(copy[place], list) and copy[place]
        copy[place] = _altered(chance, copy[place]) if deeper else chance.choice(NUMBERS)
    elif way == 4:
        copy.append(copy[place])
    elif way == 5:
        copy.pop(place)
    elif way == 6:
        copy = [copy[place]] * len(copy)
    else:
        copy[place] = chance.choice(WRONG)
    return copy


def _short(value: Any) -> str:
    return shown(value) if isinstance(value, str | list | dict) else _text(value)


def _text(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**20
    return f"{'-' if value < 0 else ''}10**{len(str(abs(value))) - 1}" if whole else repr(value)


# -- what became of it


def outcome(case: Case, calculators: dict[str, Calculator]) -> tuple[str, str, str] | None:
    """What is wrong with the end of a case, where, and the traceback; nothing if it ended well."""
    begun = time.process_time()
    try:
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = _ask(case, calculators)
    except TooLong as late:
        return f"no answer within {MOST_SECONDS:g} s", _place(late), traceback.format_exc()
    except Exception as raised:
        return f"{type(raised).__name__}: {raised}"[:160], _place(raised), traceback.format_exc()
    seconds = time.process_time() - begun
    if problem is None and seconds > MOST_SECONDS:
        problem = f"answered after {seconds:.0f} s"
    return (problem, "", "") if problem else None


def _ask(case: Case, calculators: dict[str, Calculator]) -> str | None:
    if case.name == COMMANDS:
        return _command(case.asked)
    try:
        json.dumps(calculators[case.name](case.asked), allow_nan=False)
    except (InvalidInput, Diverged) as refused:
        return _no_sentence(str(refused))
    return None


def _no_sentence(text: str) -> str | None:
    is_one = bool(text.strip()) and "\n" not in text.strip() and text.rstrip().endswith((".", "?"))
    return None if is_one else f"no sentence: {text!r}"[:160]


def _command(words: Sequence[str]) -> str | None:
    from typer.testing import CliRunner

    from saccade.cli import app

    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if "Traceback" in result.output or result.exit_code not in (0, 1, 2):
        return f"exit code {result.exit_code}: {result.output[-120:]!r}"
    refused = result.exit_code == 2
    return f"no word with exit code 2: {words}" if refused and not result.output.strip() else None


def _place(raised: BaseException) -> str:
    """The innermost line of saccade that it passed."""
    frames = [
        frame for frame in traceback.extract_tb(raised.__traceback__)
        if f"{os.sep}saccade{os.sep}" in frame.filename]
    if not frames:
        return ""
    return f"{frames[-1].filename.rsplit(f'{os.sep}saccade{os.sep}', 1)[1]}:{frames[-1].lineno}"


class _limited:
    """An alarm that ends what takes too long."""

    def __enter__(self) -> None:
        def ring(number: int, frame: FrameType | None) -> None:
            raise TooLong

        for name in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(name, ring)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


# -- all of it


def fuzz(
    count: int, seed: int, only: str = "*", numbers: Sequence[int] | None = None,
    tell: Callable[[Failure], None] = lambda failure: None,
) -> list[Failure]:
    """The cases that failed, of `count` cases (or of those with the given numbers)."""
    everything = {item.id: item for item in registry.calculators()}
    chosen = [item for name, item in everything.items() if fnmatchcase(name, only)]
    commands = fnmatchcase(COMMANDS, only)
    failures = []
    with _own_folder():
        for number in range(count) if numbers is None else numbers:
            case = draw_case(seed, number, chosen, commands)
            wrong = outcome(case, everything)
            if wrong:
                failures.append(Failure(number, case, *wrong))
                tell(failures[-1])
    return failures


class _own_folder:
    """What commands write goes into a folder of its own, with a store of its own."""

    def __enter__(self) -> None:
        self.before, self.folder = Path.cwd(), tempfile.TemporaryDirectory()
        self.store = os.environ.get("SACCADE_STORE")
        os.environ["SACCADE_STORE"] = str(Path(self.folder.name) / "store")
        os.chdir(self.folder.name)

    def __exit__(self, *_: object) -> None:
        os.chdir(self.before)
        os.environ.pop("SACCADE_STORE")
        if self.store is not None:
            os.environ["SACCADE_STORE"] = self.store
        self.folder.cleanup()


def summary(failures: Sequence[Failure]) -> list[str]:
    """One line for each place and kind of failure, the most frequent first."""
    groups: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in failures:
        kind = failure.problem.split(":")[0]
        groups.setdefault((failure.case.name, kind, failure.place), []).append(failure)
    return [
        f"{len(group):4} x {name}: {group[0].problem} [{place}]\n"
        f"       case {group[0].number}: {group[0].case}"
        for (name, _, place), group in sorted(groups.items(), key=lambda pair: -len(pair[1]))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="calculators by name, or 'commands'")
    parser.add_argument("--case", type=int, help="one case again, with its traceback")
    parser.add_argument("--out", help="write what failed to this file, as it is found")
    asked = parser.parse_args()
    _limit_memory()
    begun = time.monotonic()
    failures: list[Failure] = []

    def tell(failure: Failure) -> None:
        failures.append(failure)
        print(f"case {failure.number}: {failure.case}: {failure.problem}", flush=True)
        if asked.case is not None:
            print(failure.details)
        if asked.out:
            Path(asked.out).write_text("\n".join(summary(failures)) + "\n", encoding="utf-8")

    numbers = None if asked.case is None else [asked.case]
    fuzz(asked.count, asked.seed, asked.only, numbers, tell)
    print("\n".join(summary(failures)))
    print(
        f"{len(failures)} of {len(numbers) if numbers else asked.count} cases failed;"
        f" {time.monotonic() - begun:.0f} s")
    return 1 if failures else 0


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    sys.exit(main())
