"""The fault script: kill, fill, tear and damage sweeps, and see that nothing is lost. Prints one
line per fault; exit code 1 if one fails.

    python tools/faults.py                    # everything
    python tools/faults.py kills full-disk    # some of it
    python tools/faults.py --small            # few repetitions, for a quick look
    python tools/faults.py --list             # what there is

A small tmpfs and a read-only mount need root on Linux, a cluster needs Dask; where that is missing,
the fault says so and is skipped. The numbers of one run are in docs/reliability.md.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "src")]

from fault_tools import (  # noqa: E402
    CHANCE,
    ENVIRONMENT,
    Cluster,
    Skipped,
    leftovers,
    numbers,
    preload,
    runs,
    start,
    sweep,
    sweep_file,
    wait_for,
)


class Result(NamedTuple):
    fault: str
    passed: bool | None
    says: str
    seconds: float


# -- the faults


def kills(folder: Path, small: bool) -> str:
    """SIGKILL at random moments of a running sweep, until enough have hit; the process beside it
    must notice by itself."""
    wanted = 6 if small else 100
    cells = 10 * wanted
    file = sweep_file(
        folder, "tick", f"x = {{low = 0, high = 1, count = {cells}}}", pause=0.02, size=4)
    whole, cut = folder / "whole", folder / "cut"
    hits = torn = 0
    while hits < wanted:
        before = len(runs(cut))
        process = start(file, cut)
        wait_for(lambda: len(runs(cut)) > before or process.poll() is not None)  # noqa: B023
        time.sleep(CHANCE.uniform(0, 0.15))
        if process.poll() is not None:
            raise AssertionError(
                f"the sweep ended after {hits} kills: {process.finish()[1][-400:]}")
        process.kill()
        hits += 1
        numbers(cut)  # every run that is visible is whole, now
        torn += leftovers(cut)
        if hits % 10 == 0:
            print(f"    {hits} kills, {len(runs(cut))} of {cells} cells", flush=True)
    code, output = sweep(file, cut)
    assert code == 0, output
    code, output = sweep(file, whole)
    assert code == 0, output
    time.sleep(1.0)  # orphans of the last kill have noticed
    assert len(runs(cut)) == cells and numbers(cut) == numbers(whole), (
        "cells differ from an uninterrupted sweep")
    from saccade.lab.archive.runs import clean
    from saccade.lab.store import Store

    removed = len(clean(Store(cut), older_than=0).removed)
    return (
        f"{hits} kills, {cells} cells, each once and bit-equal to an uninterrupted sweep, 0 torn"
        f" runs visible, {removed} half-written temporaries removed by gc")


def workers(folder: Path, small: bool) -> str:
    """Kill Dask workers at random moments; each is replaced by a new one."""
    wanted = 3 if small else 20
    cells = 250 * wanted
    file = sweep_file(
        folder, "tick", f"x = {{low = 0, high = 1, count = {cells}}}", pause=0.02, size=4)
    cluster = Cluster(folder, 2)
    store, hits = folder / "store", 0
    try:
        process = start(file, store, "--cluster", cluster.address)
        while hits < wanted:
            seen = len(runs(store))
            wait_for(lambda: len(runs(store)) > seen + 5 or process.poll() is not None)  # noqa: B023
            time.sleep(CHANCE.uniform(0, 0.3))
            assert process.poll() is None, f"ended after {hits} kills: {process.finish()[1][-400:]}"
            CHANCE.choice(cluster.workers).kill()
            hits += 1
            wait_for(lambda: cluster.replace_dead() > 0)
        code, output = process.finish()
    finally:
        cluster.stop()
    assert code == 0, output[-800:]
    code, output = sweep(file, folder / "whole")
    assert numbers(store) == numbers(folder / "whole"), "cells differ"
    return f"{hits} workers killed, {cells} cells, each once and bit-equal to one process"


def scheduler(folder: Path, small: bool) -> str:
    """Kill the scheduler in the middle, start another at the same address: the running sweep finds
    it and goes on."""
    file = sweep_file(folder, "tick", "x = {low = 0, high = 1, count = 400}", pause=0.02, size=4)
    cluster = Cluster(folder, 2)
    store = folder / "store"
    try:
        process = start(file, store, "--cluster", cluster.address)
        wait_for(lambda: len(runs(store)) > 40)
        cluster.stop()
        at_kill = len(runs(store))
        cluster.workers.clear()
        cluster.start_scheduler()
        for _ in range(2):
            cluster.add_worker()
        code, output = process.finish()
    finally:
        cluster.stop()
    assert code == 0 and len(runs(store)) == 400, output[-800:]
    numbers(store)
    return (
        f"scheduler and its workers killed with {at_kill} of 400 cells done; the same sweep went on"
        " and finished")


def cluster_killer(folder: Path, small: bool) -> str:
    """A cell that always kills its Dask worker is marked, the rest completes."""
    file = sweep_file(folder, "deadly", "x = [0, 1, 2, 3, 4, 5, 6, 7]", pause=0.01)
    cluster = Cluster(folder, 2)
    deaths = 0
    try:
        process = start(file, folder / "store", "--cluster", cluster.address)
        while process.poll() is None:
            deaths += cluster.replace_dead()
            time.sleep(0.05)
        code, output = process.finish()
    finally:
        cluster.stop()
    assert code == 1 and "7 finished, 1 killed" in output, output[-800:]
    return f"1 of 8 cells marked killed after {deaths} dead workers, 7 finished"


def killer(folder: Path, small: bool) -> str:
    """A cell that always kills its local worker is marked, the rest completes; the same command
    does not try it again."""
    file = sweep_file(
        folder, "deadly", "x = {low = 0, high = 59, count = 60, whole = true}", deadly=17)
    code, output = sweep(file, folder / "store", "--jobs", "2")
    assert code == 1 and "59 finished, 1 killed" in output, output[-800:]
    code, output = sweep(file, folder / "store", "--jobs", "2")
    assert code == 1 and "0 cells computed" in output, output[-800:]
    return "1 of 60 cells marked killed after 3 deaths, 59 finished, not tried again"


def two_sweeps(folder: Path, small: bool) -> str:
    """Two sweeps write the same store at once."""
    count = 100 if small else 400
    file = sweep_file(
        folder, "tick", f"x = {{low = 0, high = 1, count = {count}}}", pause=0.005, size=4)
    store = folder / "store"
    both = [start(file, store), start(file, store, "--jobs", "2")]
    ends = [process.finish() for process in both]
    assert all(code == 0 for code, _ in ends), ends
    sweep(file, folder / "whole")
    assert numbers(store) == numbers(folder / "whole") and not leftovers(store)
    return f"{count} cells, each once, no leftovers"


def interrupt(folder: Path, small: bool) -> str:
    """Ctrl-C: one sentence, exit code 130, no leftovers; the same command resumes."""
    file = sweep_file(folder, "tick", "x = {low = 0, high = 1, count = 150}", pause=0.02, size=4)
    for number, options in enumerate(([], ["--jobs", "2"])):
        store = folder / f"store{number}"
        process = start(file, store, *options)
        wait_for(lambda: len(runs(store)) > 10)  # noqa: B023
        os.killpg(process.pid, signal.SIGINT)
        code, output = process.finish(120)
        assert (
            code == 130 and "interrupted; finished runs are kept" in output
            and "Traceback" not in output), output
        assert not leftovers(store), os.listdir(store)
        code, output = sweep(file, store, *options)
        assert code == 0 and len(runs(store)) == 150, output
    return (
        "exit code 130 and one sentence, no leftovers, resumed to 150 of 150; in one process and"
        " with two workers")


def _mount(*arguments: str) -> None:
    if platform.system() != "Linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        raise Skipped("needs root on Linux to mount")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"mount refused: {done.stderr.strip()}")


def full_disk(folder: Path, small: bool) -> str:
    """A tmpfs that is too small: one sentence, no torn run, no cell blamed; with room again the
    same command finishes."""
    place = folder / "disk"
    place.mkdir()
    _mount("-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place))
    try:
        file = sweep_file(folder, "tick", "x = {low = 0, high = 1, count = 300}", size=64)
        store = place / "store"
        code, output = sweep(file, store)
        done = len(runs(store))
        assert (
            code == 2 and "cannot be written (no space left on device)" in output
            and "Traceback" not in output), output
        assert 0 < done < 300 and len(numbers(store)) == done
        subprocess.run(["mount", "-o", "remount,size=20m", str(place)], check=True)
        code, output = sweep(file, store)
        assert code == 0 and len(numbers(store)) == 300 and not leftovers(store), output
    finally:
        subprocess.run(["umount", str(place)], check=False)
    return (
        f"stopped at {done} of 300 cells with one sentence, all whole; finished after the disk had"
        " room")


def read_only(folder: Path, small: bool) -> str:
    """A store on a read-only mount: refused before any work; what is there can still be opened."""
    file = sweep_file(folder, "tick", "x = [0.0, 1.0, 2.0]")
    store, seen = folder / "store", folder / "seen"
    sweep(file, store)
    seen.mkdir()
    _mount("--bind", str(store), str(seen))
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(seen)], check=True)
        code, output = sweep(file, seen, "--export", str(folder / "out.csv"))
        assert code == 0 and "0 cells computed" in output, output
        more = sweep_file(folder, "tick", "x = [0.0, 9.0]")
        code, output = sweep(more, seen)
        assert (
            code == 2 and "cannot be written (read-only file system)" in output
            and "Traceback" not in output), output
    finally:
        subprocess.run(["umount", str(seen)], check=False)
    return "refused in one sentence before any work; finished cells opened and exported from it"


def clock(folder: Path, small: bool) -> str:
    """The clock goes backwards by an hour at every look (in the process of the sweep)."""
    file = sweep_file(folder, "tick", "x = {low = 0, high = 1, count = 50}")
    code = (
        "import itertools, time; c = itertools.count(); time.time = lambda: 2e9 - 3600.0 *"
        " next(c)\n")
    code += "from saccade.cli import app; app()"
    command = [sys.executable, "-c", code, "sweep", str(file), "--store", str(folder / "store")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sweep(file, folder / "whole")
    assert numbers(folder / "store") == numbers(folder / "whole")
    return "50 cells, the same as with a good clock"


def damage(folder: Path, small: bool) -> str:
    """Truncate or edit run.json, flip bytes of arrays: named, never loaded, computed again."""
    count = 12 if small else 60
    file = sweep_file(folder, "tick", f"x = {{low = 0, high = 1, count = {count}}}")
    store = folder / "store"
    sweep(file, store)
    before = numbers(store)
    hurt = sorted(before)[: count // 2]
    for number, name in enumerate(hurt):
        _hurt(store / name, number % 3)
    command = [sys.executable, "-m", "saccade", "runs", "check", "--store", str(store)]
    found = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert found.returncode == 1 and all(f"{name}: damaged" in found.stdout for name in hurt), (
        found.stdout[-800:])
    assert f"{count - len(hurt)} runs are good" in found.stdout
    code, output = sweep(file, store)
    assert (
        code == 0 and all(name in output for name in hurt)
        and f"{len(hurt)} cells computed" in output), output[-800:]
    assert numbers(store) == before
    return (
        f"{len(hurt)} of {count} runs damaged in three ways: each named, none loaded, each computed"
        " again to the same bits")


def _hurt(run: Path, way: int) -> None:
    if way == 0:
        content = (run / "run.json").read_bytes()
        (run / "run.json").write_bytes(content[: CHANCE.randrange(len(content))])
    elif way == 1:
        record = json.loads((run / "run.json").read_text())
        record["request"]["parameters"]["x"] += 1.0
        (run / "run.json").write_text(json.dumps(record))
    else:
        path = run / CHANCE.choice(["0.npy", "1.npy", "2.npy"])
        content = bytearray(path.read_bytes())
        content[CHANCE.randrange(len(content))] ^= 1 << CHANCE.randrange(8)
        path.write_bytes(bytes(content))


FAULTS: dict[str, Callable[[Path, bool], str]] = {
    "kills": kills, "workers": workers, "scheduler": scheduler, "cluster-killer": cluster_killer,
    "killer": killer, "two-sweeps": two_sweeps, "interrupt": interrupt, "full-disk": full_disk,
    "read-only": read_only, "clock": clock, "damage": damage}


def carry_out(name: str, small: bool) -> Result:
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"saccade-{name}-"))
    try:
        passed, says = True, FAULTS[name](folder, small)
    except Skipped as reason:
        passed, says = None, f"skipped: {reason}"
    except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as problem:
        passed, says = False, str(problem) or "failed"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(name, passed, says, time.monotonic() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("faults", nargs="*", choices=[[], *FAULTS], help="all if none")
    parser.add_argument("--small", action="store_true", help="few repetitions")
    parser.add_argument("--list", action="store_true", help="say what there is")
    given = parser.parse_args()
    if given.list:
        for name, fault in FAULTS.items():
            print(f"{name:15}{(fault.__doc__ or '').strip()}")
        return 0
    preload()
    failed = 0
    for name in given.faults or FAULTS:
        result = carry_out(name, given.small)
        word = {True: "passed", False: "FAILED", None: "-"}[result.passed]
        failed += result.passed is False
        print(f"{name:15}{word:8}{result.seconds:7.1f} s  {result.says}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
