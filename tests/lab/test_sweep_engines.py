"""Engines with workers: the same runs as in one process, whoever dies. The long versions are in
`tools/faults.py`."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest
from sweeping import TOOLS, contents, planned, swept

from saccade.errors import InvalidInput
from saccade.lab.engines import choose
from saccade.lab.engines.cluster import Tls, on_cluster
from saccade.lab.engines.queue import DEATHS, Queue
from saccade.lab.store import Store, StoreUnwritable
from saccade.lab.sweep.perform import OtherVersion

pytestmark = pytest.mark.slow

NEEDS_CLUSTER = "needs the extra 'cluster', which `make test` installs"


def test_processes_write_the_same_runs_and_outlive_a_cell_that_kills_its_worker(tmp_path):
    asked = dict(axes={"x": list(range(6))})
    outcome = swept(tmp_path / "many", "deadly", engine=choose(jobs=2), **asked)
    assert list(outcome.failed.values()) == ["killed"]
    (bad,) = outcome.failed
    assert (
        f"died {DEATHS} times" in outcome.plan.store.record(bad + ".failed")["failure"]["problem"])
    alone = swept(tmp_path / "one", "deadly", axes={"x": [0, 1, 3, 4, 5]})
    finished = {
        name: sums for name, sums in contents(outcome.plan.store).items()
        if not name.endswith(".failed")}
    assert finished == contents(alone.plan.store)
    assert not list(outcome.plan.store.backend.leftovers())


SCRIPT = """
import signal, sys
sys.path[:0] = {path!r}
from sweeping import swept
from saccade.lab.engines import choose
if __name__ == "__main__":
    # Whoever runs the tests in the background ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    axes = {{"x": list(map(float, range(200)))}}
    swept({store!r}, "tick", engine=choose(jobs=1), axes=axes, fixed={{"pause": 0.05}})
"""


@pytest.mark.parametrize("word", [signal.SIGKILL, signal.SIGINT])
def test_workers_do_not_outlive_their_parent(tmp_path, word):
    script = tmp_path / "main.py"
    helpers = os.path.dirname(sys.modules["sweeping"].__file__)
    script.write_text(
        SCRIPT.format(path=[helpers, *filter(None, sys.path)], store=str(tmp_path / "store")))
    parent = subprocess.Popen(
        [sys.executable, str(script)], stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not contents(Store(tmp_path / "store")) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = psutil.Process(parent.pid).children(recursive=True)
    assert workers and contents(Store(tmp_path / "store")), "the sweep did not start"
    if word == signal.SIGINT:
        os.killpg(parent.pid, word)  # as a terminal does: everybody hears it
    else:
        parent.send_signal(word)
    parent.communicate(timeout=30)
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
    store = Store(tmp_path / "store")
    assert len(contents(store)) < 200
    if word == signal.SIGINT:
        assert not list(store.backend.leftovers())


def test_a_task_holds_about_a_second_of_work_and_a_fair_share(tmp_path):
    made = planned(tmp_path, "tick", axes={"x": list(map(float, range(100)))})
    queue = Queue(made, made.groups(), workers=2)
    assert len(queue.take().groups) == 1  # nothing is known yet
    task = queue.take()
    queue.learn(task, time.monotonic() - 0.1)
    assert 7 <= len(queue.take().groups) <= 10
    queue.learn(task, time.monotonic() - 5.0)
    assert len(queue.take().groups) == 1


def test_only_a_lone_cell_is_blamed_for_a_death(tmp_path):
    made = planned(tmp_path, "tick", axes={"x": [0.0, 1.0, 2.0]})
    queue = Queue(made, [], workers=1)
    together = made.task(made.groups())
    for _ in range(2 * DEATHS):
        assert queue.after_death(together) == []
        assert [len(group) for group in queue.waiting] == [1, 1, 1]
        queue.waiting.clear()
    alone = made.task(made.groups()[:1])
    for _ in range(DEATHS - 1):
        assert queue.after_death(alone) == []
    assert [done.status for done in queue.after_death(alone)] == ["killed"]


@pytest.mark.parametrize("kind", [StoreUnwritable, OtherVersion, InvalidInput])
def test_refusals_cross_processes(kind):
    again = pickle.loads(pickle.dumps(kind("one sentence")))
    assert type(again) is kind and str(again) == "one sentence"


def test_engines_are_refused_at_the_door():
    with pytest.raises(InvalidInput, match="exclude each other"):
        choose(jobs=2, cluster="tcp://127.0.0.1:1")
    with pytest.raises(InvalidInput, match="jobs = 0"):
        choose(jobs=0)


def test_tls_files_that_are_not_there_are_refused_at_the_door(tmp_path):
    pytest.importorskip("distributed", reason=NEEDS_CLUSTER)
    with pytest.raises(InvalidInput, match=r"tls_key = .* must be a file"):
        choose(cluster="tls://127.0.0.1:1", tls=Tls(key=str(tmp_path / "nowhere.pem")))


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_writes_the_same_runs(tmp_path):
    distributed = pytest.importorskip("distributed", reason=NEEDS_CLUSTER)
    asked = dict(axes={"x": [0.0, 1.0, 2.0, 3.0]}, replicates=2)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, protocol="tcp",
        host="127.0.0.1",
    ) as cluster:
        outcome = swept(
            tmp_path / "cluster", "tick", engine=choose(cluster=cluster.scheduler_address), **asked)
    assert outcome.computed == 8
    assert contents(outcome.plan.store) == contents(
        swept(tmp_path / "one", "tick", **asked).plan.store)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_is_reached_over_tls_with_the_files_given_and_not_without(tmp_path):
    distributed = pytest.importorskip("distributed", reason=NEEDS_CLUSTER)
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl to make a certificate")
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
        "-days", "2"]
    subprocess.run([*command, "-keyout", key, "-out", cert], check=True, capture_output=True)
    sides = {
        f"tls_{side}_{what}": path for side in ("scheduler", "worker", "client")
        for what, path in (("cert", cert), ("key", key))}
    security = distributed.Security(tls_ca_file=cert, require_encryption=True, **sides)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tls",
        host="127.0.0.1", security=security,
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        engine = choose(cluster=address, tls=Tls(cert, cert, key))
        assert (
            swept(tmp_path / "store", "tick", engine=engine, axes={"x": [0.0, 1.0]}).computed == 2)
        with pytest.raises(
            InvalidInput, match="cannot be reached"):  # at once, whatever the patience
            swept(tmp_path / "store", "tick", engine=on_cluster(address), axes={"x": [2.0]})


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there_is_reported_in_one_sentence(tmp_path):
    pytest.importorskip("distributed", reason=NEEDS_CLUSTER)
    with pytest.raises(InvalidInput, match=r"cannot be reached .* goes on from there"):
        swept(
            tmp_path, "tick", engine=on_cluster("tcp://127.0.0.1:9", patience=0.0),
            axes={"x": [0.0]})
    assert TOOLS


def test_a_cell_that_does_not_end_is_marked_and_the_rest_completes(tmp_path):
    asked = dict(axes={"x": list(range(5))})
    begun = time.monotonic()
    outcome = swept(tmp_path, "endless", engine=choose(cell_timeout=3.0), **asked)
    assert time.monotonic() - begun < 60
    assert list(outcome.failed.values()) == ["timed out"] and outcome.computed == 5
    (bad,) = outcome.failed
    failure = outcome.plan.store.record(bad + ".failed")["failure"]
    assert failure["problem"] == "It took longer than the 3 seconds that a cell may take."
    assert outcome.open()["value"].notnull().sum() == 4
    again = swept(tmp_path, "endless", engine=choose(cell_timeout=3.0), **asked)
    assert again.computed == 0  # kept, until --retry


def test_only_a_lone_cell_is_said_to_be_late(tmp_path):
    made = planned(tmp_path, "tick", axes={"x": [0.0, 1.0, 2.0]})
    queue = Queue(made, [], workers=1)
    assert queue.after_limit(made.task(made.groups()), 1.0) == []
    assert [len(group) for group in queue.waiting] == [1, 1, 1]
    queue.learn(made.task(made.groups()), time.monotonic())  # quick cells, which go together
    assert [len(queue.take().groups) for _ in range(3)] == [1, 1, 1]
    alone = queue.after_limit(made.task(made.groups()[:1]), 1.0)
    assert [done.status for done in alone] == ["timed out"]


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_limits_that_cannot_be_are_refused(seconds):
    with pytest.raises(InvalidInput, match=r"cell_timeout = .* above 0"):
        choose(cell_timeout=seconds)


def test_a_cluster_has_no_limit():
    with pytest.raises(InvalidInput, match="--cell-timeout and --cluster exclude each other"):
        choose(cluster="tcp://127.0.0.1:1", cell_timeout=5)


@pytest.mark.parametrize("run", ["deadly", "endless"])
def test_on_the_command_line_it_is_survived_without_jobs(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(f'run = "fault_cells:{run}"\n[axes]\nx = [1, 2, 3]\n')
    shutil.copy(os.path.join(TOOLS, "fault_cells.py"), tmp_path)
    limit = ["--cell-timeout", "3"] if run == "endless" else []
    made = subprocess.run(
        [
            sys.executable, "-m", "saccade", "sweep", str(file), "--store", str(tmp_path / "s"),
            *limit],
        capture_output=True, text=True, timeout=120)
    assert made.returncode == 1, made.stderr
    assert f"2 finished, 1 {'killed' if run == 'deadly' else 'timed out'}" in made.stdout
