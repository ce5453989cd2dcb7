"""What keeps a report light enough to send: pictures with a palette, Plotly and the numbers of
interactive figures packed, and the weight of the folder. `saccade report` warns above LIMIT_MB,
for the whole ledger with every figure."""

import base64
import gzip
import io
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from saccade.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from PIL.Image import Image

LIMIT_MB = 12.0
# a 6.4-inch figure has 768 pixels, about the width of the page; for print there is the PDF
DPI = 120
COLOURS = 256  # of a palette
NOTICEABLE = 60  # points of one colour: less is the soft edge of a line
UNSEEN = 8  # of 255: what a colour may move
# HTML ends a cell, a row, a part of a table or a term where the next begins or its parent ends,
# and needs no quotes around the words of an attribute
IMPLIED = re.compile(
    r"</(?:t[dhr]|thead|tbody|d[td])>\s*"
    r"(?=<(?:t[dhr]|thead|tbody|d[td])[ >]|</(?:tr|thead|tbody|table|div|dl)>)")
TAG = re.compile(r"<[a-z][^<>]*>")
QUOTED_WORD = re.compile(r'="([\w.-]+)"(?=[ >])')
LIVE = re.compile(r"(\(window\.saccadeFigures [^=]+= \{\}\)\[.+?\] = )(\{.*\});\n?", re.DOTALL)
PACKED = "plotly.packed.js"
LEDGER = "ledger.json.gz"  # a seventh of its weight; `saccade compare` reads it as it is
NOTICE = (
    "/* Plotly.js (MIT licence, Copyright Plotly, Inc.): gzip in base 85, unpacked by script.js"
    " when first asked for. */\n")


class Weight(NamedTuple):
    files: int
    bytes: int

    @property
    def words(self) -> str:
        megabytes = self.bytes / 1e6
        warning = f": heavier than the {LIMIT_MB:g} MB a report should weigh"
        return f"{self.files} files, {megabytes:.1f} MB" + warning * (megabytes >= LIMIT_MB)


def weigh(folder: str | Path) -> Weight:
    """How many files a folder holds, and how many bytes they have together."""
    sizes = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]
    return Weight(len(sizes), sum(sizes))


def lean(page: str) -> str:
    """The page without what HTML implies: end tags, the blanks after them, and quotes around single
    words. The same document, a fourteenth lighter."""
    return TAG.sub(lambda tag: QUOTED_WORD.sub(r"=\1", tag[0]), IMPLIED.sub("", page))


def save_light_png(drawing: "Drawing", path: Path) -> Path:
    """The drawing as a PNG of at most 256 colours, where no eye sees it: a third of the weight."""
    from PIL import Image

    full = io.BytesIO()
    drawing.savefig(full, format="png", bbox_inches="tight", dpi=DPI)
    full.seek(0)
    lightest = _with_palette(Image.open(full).convert("RGB"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lightest.save(path, optimize=True)
    except OSError as problem:
        raise InvalidInput(
            f"output = {str(path)!r} cannot be written ({(problem.strerror or '').lower()})."
        ) from None
    return path


def _with_palette(picture: "Image") -> "Image":
    """With the first palette that no eye sees; as it is if each drops a colour. No way of choosing
    colours is the best for all drawings."""
    from PIL.Image import Dither, Quantize

    for method, rounds in (
        (Quantize.MEDIANCUT, 0), (Quantize.MAXCOVERAGE, 3), (Quantize.MEDIANCUT, 3),
    ):
        few = picture.quantize(COLOURS, method, rounds, dither=Dither.NONE)
        if _looks_the_same(few, picture):
            return few
    return picture


def _looks_the_same(few: "Image", picture: "Image") -> bool:
    """Whether every colour of more than a few points is kept; a palette may drop rare ones."""
    before, after = (
        np.asarray(image.convert("RGB"), dtype=np.int64).reshape(-1, 3) for image in (picture, few))
    apart = np.abs(before - after).max(axis=1)
    _, which, counts = np.unique(before @ [65536, 256, 1], return_inverse=True, return_counts=True)
    return bool(np.max(apart, where=counts[which] >= NOTICEABLE, initial=0) <= UNSEEN)


def write_packed_plotly(folder: Path) -> None:
    """One copy of Plotly for the whole report, at two fifths of its weight; unchanged inside."""
    (folder / PACKED).write_text(
        f'{NOTICE}window.saccadePlotly = "{_packed_plotly()}";\n', encoding="ascii")


@cache
def _packed_plotly() -> str:
    return _packed((files("plotly") / "package_data" / "plotly.min.js").read_bytes())


def _packed(text: bytes) -> str:
    return base64.b85encode(gzip.compress(text, compresslevel=9, mtime=0)).decode("ascii")


def pack_live(path: Path) -> None:
    """Pack the numbers of an interactive figure in place, at two fifths of their weight; script.js
    unpacks them. A file that is packed already, or none of ours, stays as it is."""
    live = LIVE.fullmatch(path.read_text(encoding="utf-8"))
    if live:
        packed = f'{live[1]}"{_packed(live[2].encode())}";\n'
        path.write_text(packed, encoding="utf-8")
