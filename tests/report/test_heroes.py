"""What stands at the front of a report: moving pictures that say what was recorded, the findings
that studies name, and an atlas where there is one."""

import re

import pytest

from saccade.lab.notebooks import Looks, notebooks
from saccade.report.entries import read_rows
from saccade.report.heroes import FLOOR, FRAMES, WIDTH, drawn, eight_frames
from saccade.report.pictures import Picture
from saccade.report.site import Site
from saccade.report.study import StudyView
from saccade.studies import STUDIES


def numbers(token):
    return [float(value) for value in re.findall(r":([\d.e-]+)", token.style)]


def test_every_frame_of_the_record_is_drawn_against_the_largest_weight():
    looks = Looks(list(range(0, 80, 5)), [[0.1, 0.01 * step] for step in range(16)], [1], "Two.")
    hero = drawn(looks)
    assert hero.steps[0] == "0" and hero.steps[-1] == "75" and len(hero.steps) == len(FRAMES)
    first, second = hero.tokens
    assert not first.matters and second.matters and first.y == FLOOR
    assert numbers(second)[-1] == 1 and numbers(first)[-1] == pytest.approx(0.1 / 0.15, rel=1e-2)
    assert numbers(second)[0] > 0, "a token nobody looks at is still seen"
    assert 0 <= first.x < second.x <= WIDTH - hero.width


def test_patches_stand_in_a_grid():
    looks = Looks([0, 1], [[0.0] * 9, [1.0] * 9], [4], "Nine.", columns=3, asks=0)
    tokens = drawn(looks).tokens
    assert (
        tokens[0].asks and tokens[0].y == tokens[2].y < tokens[3].y and tokens[0].x == tokens[3].x)


@pytest.mark.parametrize("name", notebooks())
def test_every_study_with_a_notebook_has_its_moving_picture(name):
    hero = StudyView(name, [], []).hero
    assert hero is not None and any(token.matters for token in hero.tokens) and hero.says
    lit = [numbers(token)[-1] for token in hero.tokens if token.matters]
    dark = [numbers(token)[-1] for token in hero.tokens if not token.matters and not token.asks]
    assert min(lit) > 2 * max(dark), "it ends looking where the information is"


def test_a_short_record_is_stretched_over_all_frames():
    assert eight_frames(Looks([0, 9], [[0.0], [1.0]], [0], "One.")).steps == [0] * 4 + [9] * 4


def picture(entry):
    return Picture(f"{entry['study']}/f", entry["study"], "F", "", "", "", png="figures/f.png")


def named(study, **changes):
    row = {
        "id": f"{study}.{STUDIES[study].highlights[0]}", "study": study, "verdict": "holds",
        "figure": "f"}
    return row | changes


def test_the_five_findings_are_named_by_the_studies_and_refutations_come_first():
    rows = [named(study) for study in STUDIES if STUDIES[study].highlights]
    rows[3] |= {"verdict": "refuted", "expected": "refuted"}
    rows[4] |= {
        "verdict": "refuted", "expected": "refuted",
        "citation": {"place": "p", "words": "w", "reading": "exact"}}
    rows[0] |= {"verdict": "undecided"}
    site = Site(read_rows(rows), [picture(row) for row in rows], "quick", 0)
    chosen = [entry.id for entry, _ in site.highlights]
    assert len(chosen) == 5 and chosen[:2] == [rows[4]["id"], rows[3]["id"]]
    assert rows[0]["id"] not in chosen, "only what came out as expected"
    bare = Site(read_rows(rows), [], "quick", 0)
    assert bare.highlights == [], "no picture, no highlight"


@pytest.mark.parametrize("study", [name for name in STUDIES if STUDIES[name].highlights])
def test_named_claims_are_in_the_record_with_a_finding_and_a_figure(study):
    from saccade.lab import record

    for name in STUDIES[study].highlights:
        row = record.published(f"{study}.{name}")
        assert row is not None and row["finding"] and row["figure"], name


def test_the_atlas_stands_on_the_front_page_only_if_it_was_drawn():
    rows = read_rows([named("spatial")])
    assert Site(rows, [Picture("spatial/f", "spatial", "F", "", "", "")], "quick", 0).atlas is None
    atlas = Picture("atlas/map", "atlas", "Atlas", "", "", "", png="figures/atlas.png")
    assert Site(rows, [atlas], "quick", 0).atlas is atlas
