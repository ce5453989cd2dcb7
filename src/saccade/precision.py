"""The one place where precision and compilation are chosen: float64 by default, compiled programs
kept in the user's cache folder.

Importing this module is the switch; every room that computes imports it before its first array.
Deep networks ask for float32 explicitly. The cache folder is `$JAX_COMPILATION_CACHE_DIR` if set,
else the platform's cache folder for saccade.
"""

import os

import jax
from platformdirs import user_cache_path


def _cache_folder() -> str | None:
    """Where compiled programs are kept, or None when that folder cannot be written (a read-only
    home must not stop the work)."""
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR") or str(user_cache_path("saccade") / "xla")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _configure() -> None:
    jax.config.update("jax_enable_x64", True)
    folder = _cache_folder()
    if folder is not None:
        jax.config.update("jax_compilation_cache_dir", folder)
        # Many small programs: without lowering both thresholds almost nothing would be kept.
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


_configure()

PRECISION = "float64"
