"""Write the ledger of record, which travels with saccade, from judged ledgers:

    saccade reproduce --fresh -o report              # the quick ledger with its figures
    python tools/record.py report standard/*.json    # with rows judged at the standard scale

An input is a report (a folder: its ledger and its pictures) or a ledger written by `saccade verify
--json`. Every row keeps the date, commit, code version and libraries it was judged with; a ledger
from before rows said so needs `--judged-at COMMIT`, at which its code versions are looked up (its
date is that of the file, its libraries are taken to be those installed now). Of several rows of a
claim at one scale the last one counts. `--update` keeps what the record has and the inputs do not.
A row that does not fit the claim as it is now (other words, other controls), or that is not as it
must be, is left out, and a line says so; `--update` alone does that to the record.
"""

import argparse
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from saccade.errors import InvalidInput
from saccade.lab import index, record
from saccade.lab.compare import read_ledger, read_text
from saccade.lab.experiment import SCALES
from saccade.lab.fingerprint import environment
from saccade.report.light import LEDGER, weigh
from saccade.studies import STUDIES

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "src" / "saccade" / "record"
LIMIT_MB = 6.0
NOT_KEPT = ("traceback", "published", "current")
ASK_VERSIONS = """
import json
from saccade.lab import registry
from saccade.lab.fingerprint import version_of
functions = {claim.experiment.id: claim.experiment.function for claim in registry.claims()}
print(json.dumps({name: (f.__module__, version_of(f)) for name, f in functions.items()}))
"""

Row = dict[str, Any]


def code_at(commit: str, root: Path = ROOT) -> dict[str, list[str]]:
    """By experiment, the module that defines it and its code version at a commit of this
    checkout."""
    archive = subprocess.run(
        ["git", "-C", str(root), "archive", commit, "src"], capture_output=True, check=False)
    if archive.returncode:
        raise InvalidInput(f"judged-at = {commit!r} is not a commit of this checkout.")
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tree,
    ):
        tree.extractall(folder, filter="data")
        asked = subprocess.run(
            [sys.executable, "-c", ASK_VERSIONS], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(Path(folder, "src"))})
    return json.loads(asked.stdout)


def read_input(place: Path, commit: str | None, code: dict[str, list[str]]) -> Iterator[Row]:
    """The rows of one input that say something: verdicts, and what waits at the quick scale."""
    file = place / LEDGER if place.is_dir() else place
    for row in read_ledger(file):
        if row["verdict"] == record.WAITING and row["scale"] != SCALES[0]:
            continue
        if row.get("setting"):
            raise InvalidInput(
                f"ledger = {str(file)!r} has {row['id']} at a setting that is not the published"
                " one; the record takes none such.")
        row = {name: value for name, value in row.items() if name not in NOT_KEPT}
        if row["verdict"] != record.WAITING and not row.get("judged"):
            row["judged"] = _looked_up(row, file, commit, code)
        for control in [*row["sabotages"], *row.setdefault("repairs", [])]:
            control.pop("traceback", None)
        yield row


def _looked_up(row: Row, file: Path, commit: str | None, code: dict[str, list[str]]) -> Row:
    """What judged a row that does not say it itself."""
    if commit is None or row["experiment"] not in code:
        raise InvalidInput(
            f"ledger = {str(file)!r} does not say what judged {row['id']}; name the commit with"
            " --judged-at.")
    module, version = code[row["experiment"]]
    day = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    return {
        "date": day, "commit": commit, "code": version, "module": module, "versions": environment()}


def merged(rows: list[Row]) -> dict[str, list[Row]]:
    """By study, the rows that fit claims as they are now, in the order of the ledger and of the
    scales; of others a line is printed."""
    last = {(row["id"], row["scale"]): row for row in rows}
    by_study: dict[str, list[Row]] = {}
    for study in STUDIES:
        for claim in index.of(study)["claims"]:
            for row in filter(None, (last.pop((claim["id"], scale), None) for scale in SCALES)):
                why = record.misfit(row, claim)
                if why is None:
                    by_study.setdefault(study, []).append(row)
                else:
                    print(f"left out: {row['id']} at {row['scale']}: {why}")
    for name, scale in last:
        print(f"left out: {name} at {scale}: there is no such claim")
    return by_study


def write_figures(reports: list[Path], folder: Path, update: bool) -> None:
    """The pictures of all reports, PNG as they are, live versions packed, no PDF: `saccade figure`
    draws it again."""
    shown = {item["id"]: (item, record.FOLDER) for item in (record.figures() if update else ())}
    for report in reports:
        figures = json.loads(read_text(report / LEDGER))["figures"]
        shown |= {item["id"]: (item, report) for item in figures}
    for item, source in shown.values():
        for name in filter(None, (item["png"], item["live"])):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name == item["png"]:
                shutil.copyfile(Path(str(source / name)), target)
            else:
                target.with_name(target.name + ".gz").write_bytes(_packed(Path(str(source)) / name))
    kept = [item | {"pdf": "", "current": True} for item, _ in shown.values()]
    _write(folder / "figures.json", {"figures": kept}, "figures")


def _packed(script: Path) -> bytes:
    """From a report the script itself, from a record its packed form."""
    if script.is_file():
        return gzip.compress(script.read_bytes(), compresslevel=9, mtime=0)
    return script.with_name(script.name + ".gz").read_bytes()


def _write(path: Path, value: Row, lines: str) -> None:
    """JSON with one line for each item under `lines`, so that a change can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    items = [json.dumps(item, ensure_ascii=False) for item in value[lines]]
    head = "".join(f"{json.dumps(k)}: {json.dumps(v)}, " for k, v in value.items() if k != lines)
    text = f"{{{head}{json.dumps(lines)}: [\n" + ",\n".join(items) + "\n]}\n"
    path.write_text(text, encoding="utf-8")


def write_record(
    inputs: list[Path], folder: Path = RECORD, judged_at: str | None = None, update: bool = False
) -> dict[str, list[Row]]:
    """Write the record of the inputs to `folder`, whole or not at all; the rows by study."""
    code = code_at(judged_at) if judged_at else {}
    before = [row for scales in record.rows().values() for row in scales.values()] if update else []
    rows = merged(before + [row for place in inputs for row in read_input(place, judged_at, code)])
    building = folder.with_name(f".{folder.name}-writing")
    shutil.rmtree(building, ignore_errors=True)
    for study, found in rows.items():
        _write(building / f"{study}.json", {"study": study, "claims": found}, "claims")
    write_figures([place for place in inputs if place.is_dir()], building, update)
    for study in STUDIES:
        (building / "index").mkdir(exist_ok=True)
        text = json.dumps(index.make(study), ensure_ascii=False, separators=(",", ":"))
        (building / "index" / f"{study}.json").write_text(text, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", type=Path, help="reports and ledgers")
    parser.add_argument("--judged-at", help="the commit of ledgers that do not say it")
    parser.add_argument("--update", action="store_true", help="keep what the inputs do not have")
    asked = parser.parse_args()
    try:
        rows = write_record(asked.inputs, judged_at=asked.judged_at, update=asked.update)
    except InvalidInput as problem:
        print(f"record: {problem}", file=sys.stderr)
        return 2
    for study, found in rows.items():
        counts = {scale: sum(row["scale"] == scale for row in found) for scale in SCALES}
        print(f"{study}: " + ", ".join(f"{n} rows at {scale}" for scale, n in counts.items() if n))
    megabytes = weigh(RECORD).bytes / 1e6
    print(f"{RECORD.relative_to(ROOT)}: {weigh(RECORD).files} files, {megabytes:.2f} MB")
    return int(megabytes > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
