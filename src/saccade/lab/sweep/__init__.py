"""Sweeps: an experiment or a calculator over many parameters, on one process, several, or a
cluster, losing nothing.

`design` says which cells, `target` what they evaluate, `plan` what is missing, `perform` how one
group is computed, `execute` carries it out.
"""

from saccade.lab.sweep.design import Specification, read, specification
from saccade.lab.sweep.execute import Outcome, execute
from saccade.lab.sweep.plan import Plan, describe, plan

__all__ = [
    "Outcome", "Plan", "Specification", "describe", "execute", "plan", "read", "specification"]
