"""The one place where precision and compilation are chosen: float64 by default, compiled programs
kept in the user's cache folder, compiled quickly rather than perfectly.

Importing this module is the switch; every room that computes imports it before its first array.
Deep networks ask for float32 explicitly. The cache folder is `$JAX_COMPILATION_CACHE_DIR` if set,
else the platform's cache folder for saccade.

XLA compiles with less care than it could, unless `$XLA_FLAGS` says otherwise: most programs here
run for milliseconds and are compiled once. It optimises at level 1 of 3, and, in the releases of
jaxlib where that was tried, by the older of its two emitters of loops. CPU seconds on one thread,
jaxlib 0.10.2:

                                            level 3     level 1     level 1, older     level 0
    normals of shape (1000, 10, 80)
      compile                                  0.66        0.26               0.16        0.29
      run                                     0.015       0.017              0.017       0.090
    1,000 stochastic steps in a scan
      compile                                   1.3         0.9                0.7         2.2
      run                                      0.25        0.28               0.28         1.8
    descent in law (single-location)
      compile                                   4.6         3.8                2.1
      1,000 steps                              0.24        0.25               0.25
    a decoder of 4 layers, batch 64
      compile                                   6.6         4.7                3.5
      a step, ms                               10.6   10.0-11.4          11.3-11.7
    a vision transformer of 4 layers
      compile                                   5.6         4.3                3.8
      a step, ms                                 88       89-95              87-90

Steps of long trainings cost what they did up to the noise of the machine (the decoder's 8 % aside),
so no program is compiled otherwise.
"""

import os

import jax
import jaxlib
from platformdirs import user_cache_path

LEVEL, OLDER_EMITTERS = "--xla_backend_optimization_level", "--xla_cpu_use_fusion_emitters"
# XLA ends the process at a flag it does not know, and the older emitters are to go.
HAVE_OLDER_EMITTERS = ("0.10.2",)


def _cache_folder() -> str | None:
    """Where compiled programs are kept, or None when that folder cannot be written (a read-only
    home must not stop the work)."""
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(user_cache_path("saccade") / "xla")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def quick_flags(flags: str, release: str = jaxlib.__version__) -> str:
    """XLA's flags with those for quick compiling added, but for what they already name."""
    wanted = {LEVEL: "1"} | ({OLDER_EMITTERS: "false"} if release in HAVE_OLDER_EMITTERS else {})
    return " ".join(
        [flags, *(f"{name}={value}" for name, value in wanted.items() if name not in flags)]
    ).strip()


def _configure() -> None:
    # XLA reads its flags at the first compilation; spawned workers inherit them.
    os.environ["XLA_FLAGS"] = quick_flags(os.environ.get("XLA_FLAGS", ""))
    jax.config.update("jax_enable_x64", True)
    folder = _cache_folder()
    if folder is not None:
        jax.config.update("jax_compilation_cache_dir", folder)
        # Many small programs: without lowering both thresholds almost nothing would be kept.
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


_configure()

PRECISION = "float64"
