"""What this study is called and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="bag-estimators", prefix="EB", title="Estimators for bags", authors="", year=2026,
    venue="saccade",
    asks=(
        "Do the estimators do what theory lets one hope, and when is attention worth it on real"
        " bags?"),
    package=__name__.rpartition(".")[0], judges=("saccade.estimators",))
