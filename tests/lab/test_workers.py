"""Pieces of work in this process and in others: results in order, nothing held twice at once, a
death that costs one piece, and an end that leaves nobody behind."""

import itertools
import os
import threading
import time
from pathlib import Path

import pytest

from saccade.lab import workers
from saccade.lab.workers import Died, Piece, Watcher, carry_out


class Noting(Watcher):
    def __init__(self):
        self.log = []

    def begin(self, pieces, jobs):
        self.log.append(("begin", len(pieces), jobs))

    def start(self, piece):
        self.log.append(("start", piece.name))

    def finish(self, piece, result):
        self.log.append(("finish", piece.name, result))


def square(number):
    return number**2


def span(folder, seconds):
    """Works for a while and writes down when."""
    start = time.time()
    time.sleep(seconds)
    Path(folder, f"{start}-{os.getpid()}").write_text(f"{start} {time.time()}")


def die_at_first(folder, times):
    mark = Path(folder, "tried")
    tried = int(mark.read_text()) if mark.exists() else 0
    mark.write_text(str(tried + 1))
    if tried < times:
        os._exit(9)
    return "alive"


def refuse():
    raise ValueError("no")


def pieces(function, argument_lists, **rest):
    return [
        Piece(f"piece {number}", function, arguments, **rest)
        for number, arguments in enumerate(argument_lists)]


def test_here_pieces_go_in_their_order_and_are_told():
    watch = Noting()
    assert carry_out(pieces(square, [(3,), (4,)]), 0, watch) == [9, 16]
    assert watch.log == [
        ("begin", 2, 0), ("start", "piece 0"), ("finish", "piece 0", 9), ("start", "piece 1"),
        ("finish", "piece 1", 16)]


@pytest.mark.slow
def test_in_processes_the_dearest_starts_first_and_results_keep_their_order():
    watch = Noting()
    work = [Piece(str(cost), square, (cost,), cost) for cost in (1, 3, 2)]
    assert carry_out(work, 1, watch) == [1, 9, 4]
    assert [entry[1] for entry in watch.log if entry[0] == "start"] == ["3", "2", "1"]


@pytest.mark.slow
def test_no_two_pieces_work_on_one_thing(tmp_path):
    held = [Piece(str(n), span, (str(tmp_path), 0.4), 1, frozenset({"run"})) for n in range(3)]
    carry_out(held, 2)
    times = sorted(tuple(map(float, file.read_text().split())) for file in tmp_path.iterdir())
    assert len(times) == 3
    assert all(after[0] >= before[1] for before, after in itertools.pairwise(times))


@pytest.mark.slow
@pytest.mark.parametrize(("times", "result"), [(1, "alive"), (5, Died())])
def test_a_piece_whose_process_dies_is_tried_once_more(tmp_path, times, result):
    others = [Piece("other", square, (5,), 9.0)]
    assert carry_out([*pieces(die_at_first, [(str(tmp_path), times)]), *others], 2) == [result, 25]


@pytest.mark.slow
def test_a_refusal_ends_the_work_and_the_workers():
    import psutil

    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(ValueError, match="no"):
        carry_out([Piece("bad", refuse, (), 2.0), Piece("long", time.sleep, (60,), 1.0)], 2)
    left = [
        child for child in psutil.Process().children(recursive=True)
        if child.pid not in before and "resource_tracker" not in " ".join(child.cmdline())]
    assert psutil.wait_procs(left, timeout=5)[1] == []


def test_a_program_that_leaves_starts_nobody(monkeypatch):
    """It kills its workers first, and a dead worker would be replaced."""
    monkeypatch.setattr(workers, "_STARTING", threading.Lock())
    monkeypatch.setattr(workers, "_LEAVING", threading.Event())
    workers.start_no_more()
    workers.start_no_more()  # a second time does not wait
    pool = workers.new_worker()
    asking = threading.Thread(target=workers.send, args=(pool, square, 3), daemon=True)
    asking.start()
    asking.join(0.5)
    assert asking.is_alive() and not pool._processes
    workers._STARTING.release()  # so that the thread can end
    asking.join(60)
    pool.shutdown()
