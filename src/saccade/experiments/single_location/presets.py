"""The paper's own runs (its Table 2), by name: what the claims judge and the figures draw. d = 400, L = 10, 30 repetitions by default."""

SCHEDULE = {"inverse_temperature": 1.0, "decay": 1e-4, "step_size": 4e-3, "steps": 120_000, "record_every": 300}
ON_MANIFOLD = {"inverse_temperature": 0.1, "step_size": 4e-3, "steps": 20_000, "record_every": 200, "start": "manifold"}
STOCHASTIC = {"steps": 20_000, "record_every": 200}
STOCHASTIC_PAPER = {"steps": 200_000, "record_every": 500}
LARGE = {"inverse_temperature": 0.9, "step_size": 1e-3, "steps": 120_000, "record_every": 300}
SMALL = {"inverse_temperature": 0.1, "step_size": 4e-3, "steps": 20_000, "record_every": 200, "repetitions": 60}
