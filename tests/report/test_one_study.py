"""A ledger of one study makes a report of one study: nothing of another is drawn or shown."""

import saccade
from saccade.lab import record
from saccade.report import pictures


def test_only_the_studies_of_the_ledger_are_drawn(tmp_path, monkeypatch):
    rows = [next(iter(scales.values())) for scales in record.rows().values()]
    own = [row for row in rows if row["study"] == "spatial"]
    assert own and len(own) < len(rows)
    drawn = []

    def draw(figure, *rest, **more):
        drawn.append(figure.study)
        raise ValueError("not here")

    monkeypatch.setattr(pictures, "draw", draw)
    monkeypatch.setattr(pictures, "lacking", lambda requires: None)
    saccade.report(own, tmp_path / "r")
    assert drawn and set(drawn) == {"spatial"}
    assert [path.stem for path in (tmp_path / "r" / "study").iterdir()] == ["spatial"]
