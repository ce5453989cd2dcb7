"""Presses Ctrl-C at random moments of every long command, and says how each ended. It must end with
one sentence, exit code 130, within a few seconds, no process left, no half-written run.

    python tools/interrupts.py                     # 50 times over all commands
    python tools/interrupts.py --times 10 train    # ten times one of them
    python tools/interrupts.py --seed 1            # at other moments

Prints one line a time, then a summary; exit code 1 if one did not end as it must. The numbers of
one run are in docs/reliability.md.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS.parent / "src"))

from saccade.lab.archive.runs import check  # noqa: E402
from saccade.lab.schema import FORMAT  # noqa: E402
from saccade.lab.store import Store  # noqa: E402
from saccade.report.recorded import recorded_rows  # noqa: E402

SOON = 5.0  # seconds, the promise
LATEST = 20.0  # seconds after the start at which it is pressed, at the most

# Who is started in the background inherits that interrupts are ignored, so Python is started by
# another that hears them again. (A function in the child would fork a process that may hold JAX.)
HEARING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])")
COMMANDS = {
    "verify": "verify single-location sparse-recovery",
    "verify --jobs 2": "verify single-location sparse-recovery --jobs 2",
    "reproduce": "reproduce --jobs 2 -o report", "figure": "figure single-location/basins",
    "train": "train sparse-recovery --yes", "bench": "bench single-location",
    "sweep": "sweep ticks.toml", "sweep --jobs 2": "sweep ticks.toml --jobs 2",
    "atlas": "atlas --samples 50,200", "mutants": "mutants single-location --count 4",
    "diagnose": "diagnose bags.npz", "report": "report --ledger ledger.json",
    "explore": "explore single-location --headless", "data fetch": "data fetch cifar10"}
KEPT = "finished runs are kept"
SAYS = {
    "train": "--resume goes on", "bench": "nothing of a benchmark is kept",
    "mutants": "the altered ones are tried again", "diagnose": "nothing of a comparison is kept",
    "explore": "the notebook is closed", "data": "what is fetched already is kept"}
KNOWN: tuple[str, ...] = ()  # hidden files that belong where they are
SLOW_CLIENT = "#!/bin/sh\nexec sleep 60\n"  # an npm that brings nothing for a long time


class Ended(NamedTuple):
    """How a command ended: its exit code, what it said, seconds since the signal, who is left."""

    code: int
    said: str
    seconds: float
    left: list[str]

    def problem(self, name: str, soon: float = SOON) -> str:
        """What is not as it must be; nothing if all is."""
        word = SAYS.get(name.split()[0], KEPT)
        lines = self.said.strip().splitlines() or [""]
        begun = word in lines[-1] or lines[-1] == "saccade: interrupted."
        for wrong, what in (
            (self.code != 130, f"exit code {self.code}"),
            (self.said.count("saccade: interrupted") != 1, "not one sentence"),
            (not begun, f"says {lines[-1]!r}"), ("Traceback" in self.said, "a traceback"),
            (self.seconds > soon, f"after {self.seconds:.1f} s"),
            (bool(self.left), f"left: {'; '.join(self.left)}"),
        ):
            if wrong:
                return what
        return ""


def prepared(folder: Path) -> Path:
    """A folder with what the commands read."""
    ticks = "[axes]\nx = {low = 0, high = 1, count = 2000}\n[fixed]\npause = 0.05\n"
    (folder / "ticks.toml").write_text(f'run = "fault_cells:tick"\n{ticks}')
    (folder / "fault_cells.py").write_text((TOOLS / "fault_cells.py").read_text())
    draw = np.random.default_rng(0)
    np.savez(folder / "bags.npz", X=draw.normal(size=(300, 30, 20)), y=np.arange(300) % 2)
    rows = [row for row in recorded_rows() if row["study"] == "single-location"]
    (folder / "ledger.json").write_text(json.dumps({"format": FORMAT, "claims": rows}))
    for name in ("bin", "temporary"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "bin" / "npm").write_text(SLOW_CLIENT)
    (folder / "bin" / "npm").chmod(0o755)
    return folder


def pressed(words: list[str], moment: float, folder: Path, times: int = 1) -> Ended | None:
    """Start `saccade WORDS` in a session of its own and press Ctrl-C after `moment` seconds, as a
    terminal does: every process of the session hears it. None if its work was done before."""
    environment = {**os.environ, "SACCADE_STORE": str(folder / "store")}
    environment["SACCADE_CHECKPOINTS"] = str(folder / "checkpoints")
    environment["SACCADE_DATA"] = str(folder / "data")
    environment["TMPDIR"] = str(folder / "temporary")
    environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING, "-m", "saccade", *words], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(moment)
    if process.poll() is not None:
        process.communicate()
        return None
    below = psutil.Process(process.pid).children(recursive=True)
    begun = time.monotonic()
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    try:
        said = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[1]
    took = time.monotonic() - begun
    if process.returncode == 0 and took < SOON and not said.count("interrupted"):
        return None  # its work was done, and only the interpreter was left to shut down
    left = [one for one in psutil.wait_procs(below, timeout=2)[1] if not _is_dead(one)]
    told = [_told(one) for one in left]
    for one in left:
        one.kill()
    return Ended(process.returncode, said, took, told)


def _is_dead(process: psutil.Process) -> bool:
    """Ended, whether or not the system's first process has asked about it yet."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def _told(process: psutil.Process) -> str:
    """A process in words: its state and the end of its command line."""
    try:
        return f"{process.status()} {' '.join(process.cmdline())[-90:]}"
    except psutil.Error:
        return "one that has just ended"


def torn(folder: Path) -> list[str]:
    """What a half-written run, report or data set would leave, copies of the package that were
    altered, and runs that are not whole."""
    hidden = [path for path in folder.rglob(".*") if path.name not in KNOWN]
    hidden += (folder / "temporary").glob("saccade-mutants-*")
    store = Store(folder / "store")
    damaged = check(store).damaged if (folder / "store").is_dir() else {}
    return [*(str(path.relative_to(folder)) for path in hidden), *damaged]


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    options.add_argument("names", nargs="*", help=f"of: {', '.join(COMMANDS)}; all if none")
    options.add_argument("--times", type=int, default=50)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    names, chance = asked.names or list(COMMANDS), random.Random(asked.seed)
    problems, seconds = 0, []
    for number in range(asked.times):
        name = names[number % len(names)]
        with tempfile.TemporaryDirectory(prefix="saccade-interrupts-") as place:
            folder, ended, moment = prepared(Path(place)), None, 0.0
            while ended is None:
                moment = chance.uniform(0.1, LATEST if not moment else 0.7 * moment)
                ended = pressed(COMMANDS[name].split(), moment, folder)
            problem = ended.problem(name) or ", ".join(torn(folder))
        seconds.append(ended.seconds)
        problems += bool(problem)
        print(
            f"{number + 1:3} {name:16} after {moment:4.1f} s: exit code {ended.code} in"
            f" {ended.seconds:.1f} s{': ' + problem if problem else ''}", flush=True)
    print(
        f"{asked.times - problems} of {asked.times} as they must; seconds to the end: median"
        f" {np.median(seconds):.1f}, largest {max(seconds):.1f}.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
