"""Random command lines for `tools/fuzz.py`: names that exist or nearly do, options with odd values.

Commands that would compute for minutes, fetch something or start a server always get a word that
must be refused; the others may be answered.
"""

import random
from collections.abc import Mapping, Sequence

Words = list[str]
Names = Mapping[str, Sequence[str]]

ODD = (
    "", " ", "-", "--", "0", "-1", "1e308", "5e-324", "nan", "inf", "1" + "0" * 400, "word", "ä",
    "\n", "'", '"', "{", "[1", "a=b", "=", "../..", "/dev/null", "/dev/full", "*", "[", "null",
    "true", "x" * 3000, "\x1b[31m", "%s", "{}", "--nothing", "-q", "a.toml", "no/such", "no.such")
NUMBERS = ("0", "-1", "1", "0.5", "1e308", "5e-324", "1e-308", "nan", "1" + "0" * 400, "word", "")
REFUSED = (
    ["--scale", "enormous"], ["--seed", "one"], ["--seed", "-1"], ["--seed", "1" + "0" * 22],
    ["--nothing"], ["--store"])


INPUTS = ("t", "dim", "length", "variance", "signal", "inverse_temperature", "x", "")
MANY = (
    "[]", "[[]]", "[1,2]", "[[1],[2]]", "[[1,2],[3]]", "[null]", '["a",1]', "[1e400]", "[true]",
    "0..1:3", "1..0", "0..1:0", "1..1e9", "0..1:999999999", "1..100:3log", "0..1:3log", "-1..1",
    "1e308..1e309:5", "..", "1...2", "[[[[0.5]]]]", "[0.1,0.1,0.1]", "5..9", "{}", '{"a":[1]}')


def command_line(chance: random.Random, names: Names) -> Words:
    words = chance.choice(COMMANDS)(chance, names)
    if chance.random() < 0.2:
        words.insert(chance.randrange(len(words) + 1), "--help")
    return words


def _odd(chance: random.Random) -> str:
    return chance.choice(ODD)


def _nearly(chance: random.Random, known: Sequence[str]) -> str:
    """A name with a letter too few, too many or changed: none that exists."""
    name = chance.choice(known)
    place = chance.randrange(len(name))
    return name[:place] + chance.choice(("", "q", "qq", ".", "/")) + name[place + 1 :] + "q"


def _study(chance: random.Random, names: Names) -> str:
    return chance.choice(names["claims"]).split(".")[0]


def _anything(chance: random.Random, names: Names) -> Words:
    return [_odd(chance) for _ in range(chance.randrange(4))]


def _list(chance: random.Random, names: Names) -> Words:
    known = chance.choice((names["claims"], names["figures"], names["calculators"]))
    which = chance.choice(
        (_study(chance, names), chance.choice(known), _nearly(chance, known), _odd(chance)))
    return [
        chance.choice(("list", "list", "cite")), which,
        *chance.choice(([], ["--json"], [_odd(chance)]))]


def _calc(chance: random.Random, names: Names) -> Words:
    known = names["calculators"]
    name = chance.choice((chance.choice(known), _nearly(chance, known), _odd(chance)))
    way = chance.randrange(3)
    if way == 0:
        return ["calc", name, "--explain"]
    if way == 1:
        return ["calc", name, "--json", chance.choice(('{"a": 1}', '{"a"', "[]", "1", "nan", ""))]
    inputs = [f"{chance.choice(INPUTS)}={chance.choice((_odd, _many))(chance)}" for _ in range(2)]
    return ["calc", name, *inputs, *chance.choice(([], ["variance=0.5"], ["length=5"]))]


def _many(chance: random.Random) -> str:
    """Arrays and ranges: good ones, ragged ones, empty ones, endless ones."""
    return chance.choice(MANY)


def _plan(chance: random.Random, names: Names) -> Words:
    words = ["plan", "sparse-token"]
    for option in ("--length", "--signal", "--target-error"):
        words += [option, chance.choice((*NUMBERS, "10", "5", "0.05"))]
    return words + ([_odd(chance)] if chance.random() < 0.3 else [])


def _runs(chance: random.Random, names: Names) -> Words:
    verb = chance.choice(("list", "show", "open", "check", "gc", "merge", _odd(chance)))
    more = [chance.choice((_odd(chance), "abcd", "*", "--status", "-o")) for _ in range(2)]
    return ["runs", verb, *more[: chance.randrange(3)]]


def _sweep(chance: random.Random, names: Names) -> Words:
    name = chance.choice(
        (chance.choice(names["sweeps"]), _nearly(chance, names["sweeps"]), "a.toml"))
    return ["sweep", name, chance.choice(("--dry-run", "--toml")), *_options(chance)]


def _options(chance: random.Random) -> Words:
    return chance.choice((
        [], ["--jobs", chance.choice(NUMBERS)], ["--export", _odd(chance)], [_odd(chance)],
        ["--figure", _odd(chance)], ["--cell-timeout", chance.choice(NUMBERS[1:])],
        ["--store", chance.choice(("no://where", "/dev/null", ""))]))


def _compare(chance: random.Random, names: Names) -> Words:
    return ["compare", _odd(chance), *([_odd(chance)] if chance.random() < 0.8 else [])]


def _new_study(chance: random.Random, names: Names) -> Words:
    return [
        "new-study", chance.choice((*ODD, "spatial", "a-b")), *chance.choice(([], [_odd(chance)]))]


def _data(chance: random.Random, names: Names) -> Words:
    return ["data", chance.choice(("list", "word", "--", "fetch")), _nearly(chance, ["cifar10"])]


def _ledger(chance: random.Random, names: Names) -> Words:
    form = chance.choice(("json", "rubric", "schema", _odd(chance)))
    file = chance.choice(([], [_odd(chance)]))
    return ["ledger", *file, "--form", form, *chance.choice(([], ["--json", _odd(chance)]))]


def _diagnose(chance: random.Random, names: Names) -> Words:
    """Files that hold no bags."""
    more = chance.choice(([], ["--bag", _odd(chance)], ["--seed", chance.choice(NUMBERS)]))
    return ["diagnose", chance.choice((*ODD, "bags.csv", "bags.npz")), *more]


def _mutants(chance: random.Random, names: Names) -> Words:
    """Of a study that there is not, or of a number that cannot be."""
    if chance.random() < 0.5:
        return ["mutants", _nearly(chance, [_study(chance, names)])]
    return ["mutants", _study(chance, names), "--count", chance.choice(("0", "-1", "nan", "word"))]


def _atlas(chance: random.Random, names: Names) -> Words:
    """A plan of the map, or a word that must be refused."""
    options = ("--tasks", "--learners", "--samples", "--length", "--dim", "--draws")
    words = ["atlas", chance.choice(("--dry-run", "--dry-run", "--list"))]
    for option in chance.sample(options, chance.randrange(1, 4)):
        words += [option, chance.choice((*NUMBERS, "10,20", "1,,2", "moving-*", "softmax", "*"))]
    return words


def _setting(chance: random.Random, names: Names) -> Words:
    """A claim or a figure at values that nothing takes, or an explored port that there is not."""
    verb, known = chance.choice((("verify", names["claims"]), ("figure", names["figures"])))
    if chance.random() < 0.2:
        return ["explore", chance.choice(("spatial", _odd(chance))), "--port", "70000"]
    value = chance.choice(("nan", "-1", "1e300", "{}", "[[]]", '"word"', "1" + "0" * 400))
    return [verb, chance.choice(known), "--set", f"{chance.choice(SIZES)}={value}"]


SIZES = ("dim", "steps", "samples", "repetitions", "length", "batch", "trials")


def _heavy(chance: random.Random, names: Names) -> Words:
    """Would take minutes, so that what is asked must be refused before it starts."""
    verb, known = chance.choice((
        ("verify", names["claims"]), ("figure", names["figures"]),
        ("bench", names["benchmarks"]), ("train", ["sparse-recovery"]),
        ("explore", ["spatial"]), ("reproduce", []), ("report", [])))
    if not known:
        return [verb, "--nothing"]
    if chance.random() < 0.5:
        return [verb, _nearly(chance, known)]
    if verb in ("verify", "figure"):
        return [verb, chance.choice(known), "--set", chance.choice(("qqq=1", "=", "dim", "q={"))]
    return [verb, chance.choice(known), *chance.choice(REFUSED)]


COMMANDS = (
    _anything, _list, _calc, _calc, _plan, _runs, _sweep, _compare, _new_study, _data, _ledger,
    _diagnose, _mutants, _heavy, _atlas, _setting)
