"""What the faults of `tools/faults.py` share: sweeps as processes, stores as numbers, a Dask
cluster on loopback."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "NPROC": "1", "OMP_NUM_THREADS": "1"}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join(
    [str(TOOLS), str(TOOLS.parent / "src"), os.environ.get("PYTHONPATH", "")])
CHANCE = random.Random(7)


class Skipped(Exception):
    """This machine cannot do what the fault needs."""


def preload() -> None:
    """Import what every sweep needs, but let JAX start nothing: processes forked from here begin to
    sweep at once."""
    os.environ.update(ENVIRONMENT)
    import jax  # noqa: F401
    import xarray  # noqa: F401

    import saccade.cli.sweep
    import saccade.lab.archive.dataset
    import saccade.lab.engines
    import saccade.lab.sweep.api  # noqa: F401


class Sweep:
    """`saccade sweep ...` as a process of its own, in a session of its own, its output in a
    file."""

    def __init__(self, *arguments: str):
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.code: int | None = None
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._be(arguments)

    def _be(self, arguments: tuple[str, ...]) -> None:
        """The child: never returns."""
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(self.output.fileno(), 1)
        os.dup2(self.output.fileno(), 2)
        code = 70
        try:
            from saccade.cli import app

            app(["sweep", *arguments], standalone_mode=True)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def poll(self) -> int | None:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def kill(self) -> None:
        """SIGKILL to the sweep alone; workers that it had must notice by themselves."""
        os.kill(self.pid, signal.SIGKILL)
        wait_for(lambda: self.poll() is not None)

    def finish(self, seconds: float = 1800) -> tuple[int, str]:
        """Exit code and output."""
        wait_for(lambda: self.poll() is not None, seconds)
        self.output.seek(0)
        return self.code or 0, self.output.read()


def sweep_file(folder: Path, run: str, axes: str, **fixed: Any) -> Path:
    path = folder / f"{run}.toml"
    lines = [
        f'run = "fault_cells:{run}"', "[axes]", axes, "[fixed]",
        *(f"{name} = {value}" for name, value in fixed.items())]
    path.write_text("\n".join(lines) + "\n")
    shutil.copy(TOOLS / "fault_cells.py", folder)
    return path


def start(file: Path, store: Path, *options: str) -> Sweep:
    return Sweep(str(file), "--store", str(store), *options)


def sweep(file: Path, store: Path, *options: str) -> tuple[int, str]:
    return start(file, store, *options).finish()


def runs(store: Path) -> list[str]:
    return [name for name in os.listdir(store) if len(name) == 32] if store.is_dir() else []


def numbers(store: Path) -> dict[str, Any]:
    """Every run by name with the checksums of its arrays; raises if any is not whole."""
    from saccade.lab.store import Store

    opened = Store(store)
    made = {name: opened.contents(name).record for name in opened.names()}
    return {
        name: {key: entry["sha256"] for key, entry in record["arrays"].items()}
        for name, record in made.items() if record["status"] == "finished"}


def leftovers(store: Path) -> int:
    from saccade.lab.store import Store

    return sum(1 for _ in Store(store).backend.leftovers())


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited too long")
        time.sleep(0.005)


def _free_port() -> int:
    """A port that nobody has; a scheduler that is restarted needs the same one again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A Dask scheduler and workers as processes of this machine, on loopback."""

    def __init__(self, folder: Path, workers: int):
        if not all(find_spec(name) for name in ("dask", "distributed")):
            raise Skipped("needs Dask: pip install 'saccade[cluster]'")
        self.folder, self.port, self.workers = folder, _free_port(), []
        self.start_scheduler()
        for _ in range(workers):
            self.add_worker()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def _start(self, *arguments: str) -> subprocess.Popen:
        with open(self.folder / "cluster.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments], env=ENVIRONMENT, cwd=self.folder,
                stdout=log, stderr=log)

    def start_scheduler(self) -> None:
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def add_worker(self) -> None:
        # Without a nanny, so that a kill is a death; the script itself brings a new worker.
        options = (
            "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--death-timeout", "60")
        self.workers.append(self._start("worker", self.address, *options))

    def replace_dead(self) -> int:
        dead = [worker for worker in self.workers if worker.poll() is not None]
        for worker in dead:
            self.workers.remove(worker)
            self.add_worker()
        return len(dead)

    def stop(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
