"""Ctrl-C, as a terminal sends it, at several moments of long commands: one sentence, exit code 130,
soon, and no process left."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from sweeping import TOOLS  # noqa: F401  its folder is now on the path

from saccade.cli.interrupts import PATIENCE

from interrupts import COMMANDS, pressed, prepared, torn  # isort: skip

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interrupts")]

SOON = 5.0 + 15.0  # seconds: the promise, and more for a machine that is busy


# Who is started in the background inherits that interrupts are ignored, so Python is started by
# another that hears them again. (A function in the child would fork a process that may hold JAX.)
HEARING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])")


def started(words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", HEARING, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **options)


def interrupted(words, wait, folder, times=1):
    """Starts `saccade WORDS` in a session of its own, waits, and presses Ctrl-C."""
    environment = {**os.environ, "SACCADE_STORE": str(folder / "store")}
    process = started(
        ("-m", "saccade", *words), cwd=folder, env=environment, start_new_session=True)
    wait(process)
    below = psutil.Process(process.pid).children(recursive=True)
    start = time.monotonic()
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
    output = process.communicate(timeout=60)[1]
    took = time.monotonic() - start
    assert psutil.wait_procs(below, timeout=5)[1] == []
    return process.returncode, output, took


def seconds(number):
    return lambda process: time.sleep(number)


def until_workers_run(process):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        below = psutil.Process(process.pid).children(recursive=True)
        if any(sum(child.cpu_times()[:2]) > 1 for child in below):
            return
        time.sleep(0.2)


@pytest.mark.parametrize(
    ("words", "wait"),
    [
        (("verify", "single-location", "--jobs", "2"), seconds(1.0)),
        (("verify", "single-location", "--jobs", "2"), until_workers_run),
        (("verify", "single-location"), seconds(9.0)),
        (("reproduce", "--jobs", "2"), until_workers_run)])
def test_a_long_command_ends_at_once_with_a_sentence_and_nobody_left(words, wait, tmp_path):
    code, said, took = interrupted(words, wait, tmp_path)
    assert code == 130 and took < SOON
    assert said.splitlines()[-1] == (
        "saccade: interrupted; finished runs are kept, the same command goes on from there.")
    assert "Traceback" not in said and said.count("interrupted") == 1
    assert [path.name for path in tmp_path.iterdir() if "writing" in path.name] == []


def test_a_second_time_is_heard_too(tmp_path):
    words = ("verify", "single-location", "--jobs", "2")
    code, said, took = interrupted(words, until_workers_run, tmp_path, times=2)
    assert code == 130 and took < SOON and said.count("interrupted") == 1
    assert "Traceback" not in said


STUCK = """
import time
from saccade.cli import app

@app.command("stuck")
def stuck() -> None:
    end, told = time.monotonic() + 30, False
    while time.monotonic() < end:
        try:
            told = told or not print("begun", flush=True)
            time.sleep(1)
        except KeyboardInterrupt:
            pass  # as a compiled program would: nothing gets through
app(["stuck"])
"""


def test_work_that_does_not_hear_is_left_after_a_while(tmp_path):
    process = started(("-c", STUCK))
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130 and PATIENCE <= time.monotonic() - start < SOON
    assert said.count("saccade: interrupted") == 1


IMPORTING = """
import sys, time
from pathlib import Path
from saccade.cli import app

@app.command("begin")
def begin() -> None:
    Path("slow.py").write_text('''
import time
try:
    print("importing", flush=True)
    time.sleep(20)
except KeyboardInterrupt:
    print("raised", flush=True)
''')
    sys.path.insert(0, ".")
    import slow
app(["begin"])
"""


def test_nothing_is_raised_into_an_import(tmp_path):
    """An extension in the middle of its beginning may not survive it."""
    process = started(("-c", IMPORTING), cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert process.returncode == 130 and time.monotonic() - start < SOON
    assert "raised" not in out and said.count("saccade: interrupted") == 1


LEAVING = """
import tempfile
from pathlib import Path
from saccade.cli.interrupts import leave
folder = tempfile.TemporaryDirectory(dir=".")
Path(folder.name, "file").write_text("x")
print(len(list(Path(".").iterdir())), flush=True)
leave()
"""


def test_temporary_folders_go_although_nothing_is_unwound(tmp_path):
    process = started(("-c", LEAVING), cwd=tmp_path)
    out, said = process.communicate(timeout=60)
    assert out == "1\n" and process.returncode == 130 and "interrupted" in said
    assert list(tmp_path.iterdir()) == []


WITH_WORKER = """
import signal, time
from saccade.cli import app
from saccade.lab.workers import Piece, carry_out

def stay():
    open("begun", "w").close()
    time.sleep(60)

@app.command("deaf")
def deaf() -> None:
    signal.signal(signal.SIGINT, lambda *_: None)  # only the thread that listens hears it
    carry_out([Piece("one", stay, ())], 1)

if __name__ == "__main__":
    app(["deaf"])
"""


def of_session(number):
    """What the processes of a session run, whoever is their parent now; the dead whom nobody has
    asked about yet run nothing."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            found += [process.cmdline()] if os.getsid(process.pid) == number else []
    return found


def test_the_worker_of_a_command_that_does_not_hear_goes_with_it(tmp_path):
    (tmp_path / "deaf.py").write_text(WITH_WORKER)
    process = started((str(tmp_path / "deaf.py"),), start_new_session=True, cwd=tmp_path)
    while not (tmp_path / "begun").exists():  # not by its seconds: a fast machine needs few
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    time.sleep(0.5)  # for the tracker of semaphores, which ends by itself
    assert of_session(process.pid) == []
    assert process.returncode == 130 and said.count("saccade: interrupted") == 1


OTHERS = (
    "train", "bench", "sweep", "atlas", "mutants", "diagnose", "report", "explore", "data fetch")


def at_a_random_moment(name, folder):
    moment, ended = random.Random(name).uniform(2.0, 5.0), None
    while ended is None:  # a machine so fast that the command was done
        ended = pressed(COMMANDS[name].split(), moment, folder)
        moment /= 2
    return ended.problem(name, SOON)


def test_every_other_long_command_too_at_a_random_moment(tmp_path):
    """Four at a time, since most of it is waiting. `tools/interrupts.py` does it fifty times."""
    places = [tmp_path / name.replace(" ", "-") for name in OTHERS]
    for place in places:  # not in threads: they read sources, and Python 3.11 parses one at a time
        place.mkdir()
        prepared(place)
    with ThreadPoolExecutor(4) as crew:
        problems = dict(zip(OTHERS, crew.map(at_a_random_moment, OTHERS, places), strict=True))
    assert problems == dict.fromkeys(OTHERS, "")
    assert [torn(place) for place in places] == [[] for _ in places]


SLOW_TO_IMPORT = """
import sys, time
class Slow:
    def find_spec(self, name, *rest):
        if name == "saccade.cli":
            print("importing", flush=True)
            time.sleep(20)
sys.meta_path.insert(0, Slow())
from saccade.__main__ import main
main()
"""


def test_while_the_program_is_imported_too():
    process = started(("-c", SLOW_TO_IMPORT))
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130 and said == "\nsaccade: interrupted.\n"


LINGERING = """
import atexit, os, signal, time
from saccade.cli import app
atexit.register(lambda: (print("ending", flush=True), time.sleep(1)))
app(["--version"])
"""


def test_after_the_work_is_done_nothing_is_said(tmp_path):
    process = started(("-c", LINGERING))
    assert process.stdout is not None and "ending" in process.stdout.readline() + (
        process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == "" and process.returncode == 0
