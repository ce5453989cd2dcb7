"""Compiled programs are let go when there are too many, and what they compute stays the same."""

import sys

import jax
import jax.numpy as jnp
import pytest

from saccade.lab import programs

pytestmark = pytest.mark.slow

needs_maps = pytest.mark.skipif(
    not programs.MAPS.exists(), reason="only Linux says how many memory maps a process holds")


def compile_many(count: int = 40) -> list[float]:
    return [
        float(jax.jit(lambda x, i=i: jnp.sum(jnp.tanh(x) * i))(jnp.ones(i)))
        for i in range(1, count)]


@needs_maps
def test_letting_go_frees_maps_and_changes_no_result():
    before = compile_many()
    held = programs.memory_maps()
    assert programs.let_go_of_programs(allowed=0, at_once=True)
    assert programs.memory_maps() < held - 40
    assert compile_many() == before


@needs_maps
def test_few_programs_are_kept():
    compile_many(3)
    assert not programs.let_go_of_programs(allowed=10**6, at_once=True)


def test_it_looks_only_once_in_a_while(monkeypatch):
    looks = []
    monkeypatch.setattr(programs, "memory_maps", lambda: looks.append(1) or 0)
    monkeypatch.setattr(programs, "_looked", float("-inf"))
    for _ in range(100):
        programs.let_go_of_programs()
    assert len(looks) == 1


def test_where_nothing_is_known_nothing_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(programs, "MAPS", tmp_path / "absent")
    assert programs.memory_maps() == 0
    assert not programs.let_go_of_programs(allowed=0, at_once=True)


def test_without_jax_there_is_nothing_to_let_go(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert not programs.let_go_of_programs(allowed=0, at_once=True)
