"""Sweeps: an experiment or a calculator over many parameters, on one process, several, or a
cluster, losing nothing.

`design` says which cells, `target` what they evaluate, `plan` what is missing, `perform` how one
group is computed, `conduct` carries it out.
"""

from saccade.lab.sweep.conduct import Outcome, conduct
from saccade.lab.sweep.design import Specification, read, specification
from saccade.lab.sweep.plan import Plan, describe, plan

__all__ = [
    "Outcome", "Plan", "Specification", "conduct", "describe", "plan", "read", "specification"]
