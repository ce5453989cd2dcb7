"""The real sets of this study on the map of all learners and all tasks, where they are installed.
Nobody knows the best predictor; an oracle that looks labels up stands in for it."""

STUDY = "bag-estimators"
FLOOR = "unknown, 0 is taken"
