"""Sweeps: an experiment or a calculator over many parameters, on one process, several, or a
cluster, losing nothing.

`design` says which cells, `target` what they evaluate, `plan` what is missing, `perform` how one
group is computed; `api` carries it out, and knows the sweeps that studies bring along.
"""
