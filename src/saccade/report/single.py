"""The whole report as one HTML file, to be sent or archived: every page in it, pictures and style
included, links inside; no script, so pictures do not move and the ledger does not filter.

Pages are blocks of which the stylesheet shows the one that the address names. A picture that many
pages show is in the file once.
"""

import base64
import posixpath
import struct
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from saccade.lab.whole import write_whole

FIRST = "index.html"
POINTING = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns")
VOID = ("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr")
DROPPED = ("script", "template")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
SWITCHING = """
.page { display: none; }
.page:target, .page:has(:target), body:not(:has(:target)) > .page.first { display: block; }
svg.picture { max-width: 100%; height: auto; }
"""


def write_single(folder: str | Path, file: str | Path) -> Path:
    """Bind the report in `folder` into `file`; the path of it."""
    home = Path(folder)
    pages = [FIRST, *sorted(_pages(home))]
    pictures: dict[str, str] = {}
    blocks = [_block(home, name, pages, pictures) for name in pages]
    style = (home / "style.css").read_text(encoding="utf-8") + SWITCHING
    drawn = "".join(_symbol(home, name, key) for name, key in pictures.items())
    write_whole(
        file, '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>saccade: the report</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<svg width="0" height="0" aria-hidden="true" style="position:absolute">{drawn}</svg>\n'
        + "\n".join(blocks) + "\n</body>\n</html>\n")
    return Path(file)


def _pages(home: Path) -> Iterator[str]:
    for path in home.rglob("*.html"):
        if path.relative_to(home).as_posix() != FIRST:
            yield path.relative_to(home).as_posix()


def _slug(page: str) -> str:
    return page.removesuffix(".html").replace("/", "-")


def _block(home: Path, page: str, pages: list[str], pictures: dict[str, str]) -> str:
    reader = _Body(page, set(pages), pictures)
    reader.feed((home / page).read_text(encoding="utf-8"))
    reader.close()
    first = " first" if page == FIRST else ""
    return f'<div class="page{first}" id="{_slug(page)}">{"".join(reader.parts)}</div>'


def _symbol(home: Path, name: str, key: str) -> str:
    content = (home / name).read_bytes()
    width, height = struct.unpack(">II", content[16:24])  # the header of a PNG
    data = base64.b64encode(content).decode()
    return (
        f'<symbol id="{key}" viewBox="0 0 {width} {height}"><image width="{width}"'
        f' height="{height}" href="data:image/png;base64,{data}"/></symbol>')


class _Body(HTMLParser):
    """What stands in the body of a page, with names that are unique in the file and links that stay
    inside it."""

    def __init__(self, page: str, pages: set[str], pictures: dict[str, str]):
        super().__init__(convert_charrefs=False)
        self.page, self.pages, self.pictures = page, pages, pictures
        self.parts: list[str] = []
        self.inside, self.dropping = False, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self.inside = True
        elif self.inside and (tag in DROPPED or self.dropping):
            self.dropping += tag not in VOID
        elif self.inside:
            self.parts.append(self._tag(tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.inside and not self.dropping and tag not in DROPPED:
            made = self._tag(tag, dict(attrs))
            self.parts.append(made if tag in VOID else f"{made[:-1]}/>")

    def handle_endtag(self, tag: str) -> None:
        if tag == "body":
            self.inside = False
        elif self.dropping:
            self.dropping -= 1
        elif self.inside and tag not in VOID:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.inside and not self.dropping:
            self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _tag(self, tag: str, attrs: dict[str, str | None]) -> str:
        source = self._file(attrs.get("src") or "")
        if tag == "img" and source.endswith(".png"):
            return self._picture(source, attrs)
        kept = {name: self._value(name, value) for name, value in attrs.items()}
        words = "".join(
            f" {name}" if value is None else f' {name}="{escape(value)}"'
            for name, value in kept.items() if value != "" or attrs[name] == "")
        return f"<{tag}{words}>"

    def _picture(self, source: str, attrs: dict[str, str | None]) -> str:
        key = self.pictures.setdefault(source, f"picture-{len(self.pictures)}")
        size = "".join(f' {side}="{attrs[side]}"' for side in ("width", "height") if side in attrs)
        box = f' viewBox="0 0 {attrs["width"]} {attrs["height"]}"' if "width" in attrs else ""
        alt = escape(attrs.get("alt") or "picture")
        return (
            f'<svg class="picture" role="img" aria-label="{alt}"{size}{box}><use href="#{key}"/>'
            "</svg>")

    def _value(self, name: str, value: str | None) -> str | None:
        """An attribute as it must be here; an empty word for one that cannot be."""
        if value is None:
            return None
        if name == "id":
            return self._inside(value)
        if name in POINTING:
            return " ".join(map(self._inside, value.split()))
        return self._link(value) if name in ("href", "src", "data") else value

    def _inside(self, name: str, page: str | None = None) -> str:
        return f"{_slug(page or self.page)}--{name}"

    def _link(self, value: str) -> str:
        if "://" in value or value.startswith(("data:", "mailto:")):
            return value
        address, _, fragment = value.partition("#")
        page = self._file(address) if address else self.page
        if page not in self.pages:
            return ""  # a picture or a file beside the pages
        named = fragment and "=" not in fragment  # "#verdict=refuted" is for the script
        return "#" + (self._inside(fragment, page) if named else _slug(page))

    def _file(self, address: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.page), address))
