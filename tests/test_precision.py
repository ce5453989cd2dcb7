"""Flags for quick compiling reach XLA, with the user's own kept."""

import os
import subprocess
import sys

import pytest

from saccade.precision import LEVEL, OLDER_EMITTERS, quick_flags

ASKED = """
import os, tempfile
folder = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_dump_to={folder}"
import jax
import saccade.precision
from pathlib import Path
jax.config.update("jax_enable_compilation_cache", False)
jax.jit(lambda x: x + 1)(1.0)
said = [file.read_text() for file in Path(folder).glob("*debug_options*")]
print([line for line in said[0].splitlines() if "xla_backend_optimization_level" in line])
"""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", f"{LEVEL}=1"), ("--xla_other=2", f"--xla_other=2 {LEVEL}=1"),
        (f"{LEVEL}=3 --xla_other=2", f"{LEVEL}=3 --xla_other=2")])
def test_flags_are_added_only_where_none_is_named(flags, expected):
    assert quick_flags(flags, release="99.0") == expected


def test_older_emitters_only_where_they_are_known():
    assert quick_flags("", "0.10.2") == f"{LEVEL}=1 {OLDER_EMITTERS}=false"
    assert quick_flags(f"{OLDER_EMITTERS}=true", "0.10.2") == f"{OLDER_EMITTERS}=true {LEVEL}=1"
    assert OLDER_EMITTERS not in quick_flags("", "0.10.3")


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "level"), [("", 1), (f"{LEVEL}=2", 2)])
def test_the_compiler_is_told_the_level(flags, level):
    run = subprocess.run(
        [sys.executable, "-c", ASKED], env={**os.environ, "XLA_FLAGS": flags}, capture_output=True,
        text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == f"['xla_backend_optimization_level: {level}']"
