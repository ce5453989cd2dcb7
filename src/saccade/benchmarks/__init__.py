"""Speed of the studies against their peers: `BENCHMARKS` of each study, run by `saccade bench`."""
