"""The report: whole or not at all, escaped, honest about what was not judged, drawn to scale."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from saccade.errors import InvalidInput
from saccade.lab.claim import Citation, Claim, Sabotage, one_row
from saccade.lab.compare import read_text
from saccade.lab.experiment import experiment
from saccade.lab.figure import Figure
from saccade.lab.kinds import IDENTITY
from saccade.lab.ledger import Conditions, evaluate
from saccade.lab.store import Store
from saccade.report import write_report, writing
from saccade.report.entries import read_rows, tally
from saccade.report.light import LEDGER
from saccade.report.pictures import Picture
from saccade.report.site import Site

NASTY = "<script>alert('x')</script> & \"quotes\" <img src=x onerror=y>"


def row(name="risk", verdict="holds", **changes):
    usual = {
        "id": f"single-location.{name}", "study": "single-location", "spec": "SL-X",
        "statement": f"The {name} is one.", "source": "Theorem 1", "status": "exact",
        "kind": "estimate", "expected": "holds", "verdict": verdict, "prediction": 1.0,
        "measurement": 1.01, "interval": [0.98, 1.04], "resolution": 0.1, "part": "0", "parts": [],
        "replicates": 40, "looks": 1, "seconds": 0.5, "needs": None, "error": None, "finding": "",
        "corrected": None, "figure": None, "argued": "a finite-size term", "scale": "quick",
        "seed": 0,
        "sabotages": [{
            "name": "shift", "says": "Move it.", "verdict": "refuted", "prediction": 1.0,
            "measurement": 4.0}]}
    return usual | changes


def waiting(name="deep", **changes):
    nothing = dict.fromkeys(
        ("prediction", "measurement", "interval", "resolution", "part", "seconds"))
    needs = {"needs": {"scale": "standard", "minutes": 3.0}}
    return row(
        name, "waiting", **nothing, sabotages=[{"name": "shift", "says": "Move it."}],
        **(needs | changes))


def drawn(runs):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot([0, 1], [0, 1])
    return figure


def failing(runs):
    raise ImportError("No module named 'absent_package'", name="absent_package")


def figure(name="4a", draw=drawn, runs=None, **changes):
    return Figure(
        f"single-location/{name}", f"Figure {name}", "A line.", "Figure 4", runs or {}, draw,
        **changes)


def written(tmp_path, rows, figures=(), name="report", pdf=False):
    page = write_report(
        rows, tmp_path / name, scale="quick", seed=0, store=Store(tmp_path / "store"),
        figures=list(figures), pdf=pdf)
    return page.parent


class Links(HTMLParser):
    """Every address a page names, every id it has, and the tags it opens."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("href", "src")]
        self.ids += [value for name, value in attributes if name == "id"]


def pages_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.html")}


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def broken_links(folder):
    def leads_nowhere(page, address):
        outside = ":" in address or address.startswith("/")
        return outside or not (page.parent / unquote(address.split("#")[0])).is_file()

    return [
        (path.name, address) for path in folder.rglob("*.html")
        for address in Links(path.read_text(encoding="utf-8")).addresses
        if not address.startswith(("data:", "#")) and leads_nowhere(path, address)]


def test_there_is_a_page_for_the_ledger_each_study_and_each_claim_and_every_link_leads_somewhere(
    tmp_path,
):
    rows = [
        row(figure="single-location/4a"),
        row("wrong", "refuted", expected="refuted", corrected="single-location.risk"), waiting()]
    folder = written(tmp_path, rows, [figure(), figure("5", failing)])
    assert set(pages_of(folder)) == {
        "index.html", "findings.html", "study/single-location.html",
        "claims/single-location.risk.html", "claims/single-location.wrong.html",
        "claims/single-location.deep.html"}
    assert broken_links(folder) == []
    assert all(
        len(set(ids)) == len(ids) for ids in (Links(page).ids for page in pages_of(folder).values())
    )
    [first, *_] = json.loads(read_text(folder / LEDGER))["claims"]
    assert first["id"] == "single-location.risk"


def test_rows_of_the_real_ledger_are_understood(tmp_path):
    @experiment("single-location.report-toy")
    def toy(key, *, mean: float = 1.0):
        import xarray

        return xarray.Dataset({"value": ("replicate", [mean, mean])})

    claim = Claim(
        id="single-location.toy", spec="SL-0", statement="Two numbers.", source="nowhere",
        kind=IDENTITY, experiment=toy, citation=Citation("nowhere", "two", "ours"),
        measure=lambda run: one_row(run.data.value.values), predict=lambda run: [1.0, 1.0],
        resolution=1e-9, argued="a toy", parts=("first", "second"),
        sabotages=(
            Sabotage("shift", "Move it.", {"mean": 2.0}),
            Sabotage("crash", "Stop.", measure=lambda run: 1 / 0)))
    rows = [evaluate(claim, Conditions(sabotage=True, folder=str(tmp_path / "store")))]
    folder = written(tmp_path, rows)
    page = text_of(pages_of(folder)["claims/single-location.toy.html"])
    assert all(
        word in page
        for word in ("first", "second", "Move it.", "as it must be", "should be refuted"))
    assert "ZeroDivisionError" in page and "saccade verify single-location.toy --sabotage" in page
    assert "Traceback" not in page + read_text(folder / LEDGER)


def test_everything_from_data_is_escaped(tmp_path):
    texts = (
        "statement", "source", "status", "argued", "finding", "spec", "error", "kind", "part",
        "corrected", "figure")
    parts = [{
        "part": NASTY, "verdict": "holds", "prediction": 1.0, "measurement": 1.0,
        "interval": [1.0, 1.0], "resolution": 0.1}] * 2
    broken = [{"name": NASTY, "says": NASTY, "verdict": "refuted", "error": NASTY}]
    nasty = row(**dict.fromkeys(texts, NASTY), id=NASTY, study=NASTY, parts=parts, sabotages=broken)
    late = waiting(NASTY, needs={"extra": NASTY, "missing": [NASTY]})
    drawing = Figure(f"{NASTY}/1", NASTY, NASTY, NASTY, {}, drawn)
    folder = written(tmp_path, [nasty, late], [drawing])
    for page in pages_of(folder).values():
        tags = Links(page).tags
        assert "<img src=x" not in page and "alert(&#39;x&#39;)" in page
        assert tags.count("script") == 1
    assert broken_links(folder) == []


def test_waiting_claims_are_never_counted_as_passed(tmp_path):
    entries = read_rows(
        [row(), waiting(), waiting("other", needs={"extra": "nlp", "missing": ["tokenizers"]})])
    counts = tally(entries)
    assert (counts.holds, counts.waiting, counts.judged, counts.unexpected) == (1, 2, 1, 0)
    assert not any(entry.as_expected for entry in entries[1:])
    folder = written(tmp_path, [entry.row for entry in entries])
    index = text_of(pages_of(folder)["index.html"])
    assert "1 of 3 claims judged." in index and "2 claims wait" in index
    assert "needs scale standard, about 3 min" in index
    assert "needs the extra &#39;nlp&#39; (missing here: tokenizers)" in index
    alone = text_of(pages_of(written(tmp_path, [waiting()], name="alone"))["index.html"])
    assert "Nothing was judged yet." in alone and "Every verdict" not in alone


@pytest.mark.parametrize(
    ("judged", "unexpected"),
    [
        (row(), False), (row(verdict="refuted", expected="refuted"), False),
        (row(verdict="refuted"), True), (row(verdict="undecided"), True),
        (row(verdict="holds", expected="refuted"), True),
        (row(sabotages=[{"name": "shift", "says": "", "verdict": "holds"}]), True),
        (row(sabotages=[{"name": "shift", "says": "", "verdict": None}]), False),
        (waiting(), False), (waiting(expected="refuted"), False)])
def test_what_is_not_as_expected_is_said_first(tmp_path, judged, unexpected):
    [entry] = read_rows([judged])
    assert entry.unexpected is unexpected
    index = pages_of(written(tmp_path, [judged]))["index.html"]
    assert ("Not as expected" in index) is unexpected
    assert ("Every verdict reached is the expected one." in text_of(index)) is (
        not unexpected and judged["verdict"] != "waiting")


def test_findings_are_told_with_what_holds_instead(tmp_path):
    wrong = row(
        "wrong", "refuted", expected="refuted", statement="It always recovers.",
        finding="It fails in some runs.")
    wrong["corrected"] = "single-location.right"
    rows = [
        wrong, row("right", statement="It recovers unless swapped."),
        row("new", finding="A new state.")]
    pages = pages_of(written(tmp_path, rows))
    findings = text_of(pages["findings.html"])
    assert "findings.html" in Links(pages["index.html"]).addresses
    sentences = (
        "It fails in some runs.", "As read: It always recovers.", "It recovers unless swapped.",
        "A new state.")
    assert all(text in findings for text in sentences)
    assert "refuted as expected" in findings.replace("  ", " ")
    assert (
        'href="../claims/single-location.right.html"' in pages["claims/single-location.wrong.html"])
    absent = text_of(pages_of(written(tmp_path, [wrong]))["findings.html"])
    assert "single-location.right, which is not in this ledger" in absent


def test_a_figure_is_on_its_study_and_claim_pages_and_can_be_downloaded(tmp_path):
    rows = [row(figure="single-location/4a"), row("other", figure="9")]
    assert not list((written(tmp_path, rows, [figure()]) / "figures").glob("*.pdf"))
    folder = written(tmp_path, rows, [figure()], pdf=True)
    png, pdf = folder / "figures/single-location.4a.png", folder / "figures/single-location.4a.pdf"
    assert png.read_bytes().startswith(b"\x89PNG") and pdf.read_bytes().startswith(b"%PDF")
    pages = pages_of(folder)
    assert "saccade figure single-location/4a -o 4a.pdf" in pages["study/single-location.html"]
    for name in ("study/single-location.html", "claims/single-location.risk.html"):
        assert {"../figures/single-location.4a.png", "../figures/single-location.4a.pdf"} <= set(
            Links(pages[name]).addresses)
    assert "Figure 9 is not part of this report." in pages["claims/single-location.other.html"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (figure(draw=failing), "it needs the package &#39;absent_package&#39;"),
        (figure(draw=lambda runs: runs["nothing"]), "KeyError"),
        (
            figure(requires="nlp:absent_package"),
            "it needs the extra &#39;nlp&#39; (missing here: absent_package)"),
        (figure(requires="data:no-such-set"), "There is no data set named &#39;no-such-set&#39;")])
def test_a_figure_that_fails_is_a_sentence_not_a_broken_report(tmp_path, broken, reason):
    folder = written(tmp_path, [row(figure="single-location/4a")], [broken, figure("5")])
    page = text_of(pages_of(folder)["study/single-location.html"])
    assert reason in page.replace('"', "&#39;")
    assert (folder / "figures/single-location.5.png").is_file()
    assert not (folder / "figures/single-location.4a.png").exists()


@experiment("single-location.photographs")
def photographs(key):
    from saccade.datasets.images import load_images

    return load_images("cifar10")


def unreadable(runs):
    raise FileNotFoundError("photographs.npz")


@pytest.mark.parametrize(
    "waits",
    [
        figure(requires="data:cifar10"), figure(runs={"run": (photographs, {})}),
        figure(draw=unreadable)],
    ids=["the figure says it", "its experiment loads it", "its claim says it"])
def test_a_figure_waits_for_absent_data_as_its_claim_does(tmp_path, monkeypatch, waits):
    monkeypatch.setenv("SACCADE_DATA", str(tmp_path / "no-data"))
    needs = {"data": ["cifar10"], "get": "saccade data fetch cifar10"}
    claim = waiting(figure="single-location/4a", needs=needs)
    pages = pages_of(written(tmp_path, [claim], [waits, figure("5")]))
    for name in ("study/single-location.html", "claims/single-location.deep.html"):
        shown = text_of(pages[name].split("<figure class=picture")[1].split("<figcaption>")[0])
        assert "waiting" in shown and "Not drawn here" in shown
        assert "cifar10" in shown and "saccade data fetch cifar10" in shown


def test_a_second_report_replaces_the_first_and_nothing_else_is_left(tmp_path):
    written(tmp_path, [row("old")])
    folder = written(tmp_path, [row("new")])
    assert (folder / "claims/single-location.new.html").is_file()
    assert not (folder / "claims/single-location.old.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_report_leaves_the_old_one_whole(tmp_path, monkeypatch, problem):
    folder = written(tmp_path, [row("old")])

    def stop(site, building):
        (building / "index.html").write_text("half")
        raise problem

    monkeypatch.setattr(writing, "write_pages", stop)
    with pytest.raises(problem):
        written(tmp_path, [row("new")])
    assert "old" in (folder / "index.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_failed_rename_brings_the_old_report_back(tmp_path, monkeypatch):
    folder = written(tmp_path, [row("old")])
    rename = writing.os.rename

    def once_refused(source, target):
        if "-writing-" in str(source):
            raise PermissionError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(writing.os, "rename", once_refused)
    with pytest.raises(InvalidInput, match="cannot be written"):
        written(tmp_path, [row("new")])
    assert (folder / "claims/single-location.old.html").is_file()


def test_a_folder_that_saccade_did_not_make_is_refused_untouched(tmp_path):
    mine = tmp_path / "report"
    mine.mkdir()
    assert written(tmp_path, [row()]) == mine, "an empty folder may be used"
    for name in (".saccade-report", "index.html"):
        (mine / name).unlink()
    (mine / "thesis.tex").write_text("precious")
    with pytest.raises(
        InvalidInput, match=r"^folder = .* holds files that are not a saccade report; .*\.$"
    ):
        written(tmp_path, [row()])
    assert (mine / "thesis.tex").read_text() == "precious"


def test_impossible_places_get_one_sentence(tmp_path):
    (tmp_path / "report").write_text("a file")
    with pytest.raises(InvalidInput, match=r"is a file; choose a folder"):
        written(tmp_path, [row()])
    with pytest.raises(InvalidInput, match=r"cannot be written \(not a directory\)\.$"):
        write_report(
            [row()], tmp_path / "report" / "inside", scale="quick", seed=0, store=None, figures=[])


@pytest.mark.parametrize(
    "bad", ["text", {"id": "a.b"}, {"verdict": "holds"}, row(verdict="passed")])
def test_what_is_no_ledger_row_is_refused(tmp_path, bad):
    with pytest.raises(InvalidInput, match="needs an id and a verdict"):
        written(tmp_path, [bad])
    assert not (tmp_path / "report").exists()


def test_a_row_without_optional_fields_and_an_empty_ledger_are_shown(tmp_path):
    folder = written(tmp_path, [{"id": "elsewhere.claim", "verdict": "undecided"}])
    assert broken_links(folder) == [] and (folder / "study/elsewhere.html").is_file()
    empty = pages_of(written(tmp_path, [], name="empty"))
    assert "This ledger has no claims." in empty["index.html"]


def test_the_command_names_scale_seed_and_sabotage_only_where_they_matter():
    entries = read_rows([row(sabotages=[]), row(scale="paper", seed=3), waiting()])
    assert [entry.command for entry in entries] == [
        "saccade verify single-location.risk",
        "saccade verify single-location.risk --scale paper --seed 3 --sabotage",
        "saccade verify single-location.deep --scale standard"]
    lines = entries[1].python_lines
    assert 'saccade.verify("single-location.risk", scale="paper", seed=3, sabotage=True)' in lines
    compile(lines, "lines", "exec")


def test_a_site_gathers_studies_in_the_library_order():
    entries = read_rows([row(), {"id": "elsewhere.claim", "verdict": "holds"}])
    pictures = [Picture("single-location/1", "single-location", "One", "", "", "")]
    site = Site([entries[1], entries[0]], pictures, "quick", 0)
    assert [study.name for study in site.studies] == ["single-location", "elsewhere"]
    known, unknown = site.studies
    assert "Marion" in known.reference and unknown.reference == ""
    assert "@inproceedings{marion2025" in known.bibtex


def test_the_shared_files_ask_nothing_of_the_network():
    source = Path(writing.__file__).parent
    for path in [*source.glob("*.css"), *source.glob("*.js"), *source.glob("templates/*")]:
        assert not re.search(r"https?://|@import|url\(|//cdn", path.read_text(encoding="utf-8")), (
            path.name)
