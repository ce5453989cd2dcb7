"""How the long programs of this study are compiled.

Generating random numbers under `vmap` takes XLA's highest optimisation level three seconds to
compile each time it occurs, and up to twenty in the transfer programs; one level lower it takes a
tenth of that and runs as fast. Measured with `jax.jit(...).lower().compile()` at D = 6, d = 4: 9.3
s against 2.4 s, and 1.3 s against 1.2 s for the run itself. The option is for outermost programs
only.
"""

QUICKLY = {"xla_backend_optimization_level": 2}
