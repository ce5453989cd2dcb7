"""The size and shape of the source, as a Markdown table:  python tools/size.py [FOLDER ...]

Give several checkouts to set them side by side (the table in docs/design.md was made so).
"""

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100


def functions(text: str) -> Iterator[int]:
    """The lines of every function, its signature included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def crossings(source: Path, texts: dict[Path, str]) -> int:
    """Imports in one study's folder of another study."""
    folder = source / "saccade" / "studies"
    count = 0
    for path, text in texts.items():
        if folder in path.parents and path.parent != folder:
            own = path.relative_to(folder).parts[0]
            named = re.findall(r"^\s*(?:from|import) saccade\.studies\.(\w+)", text, re.MULTILINE)
            count += sum(name != own for name in named)
    return count


def places(source: Path) -> str:
    """In how many folders one study lies, and in how many files: fewest to most."""
    house = source / "saccade"
    counts = []
    for study in ("single_location", "sparse_token", "group_sparse", "sparse_recovery", "spatial"):
        files = [path for path in house.rglob("*.py") if study in str(path.relative_to(house))]
        relative = [path.relative_to(house) for path in files]
        homes = {
            path.parts[: path.parts.index(study) + 1 if study in path.parts else 1]
            for path in relative}
        counts.append((len(homes), len(files)))
    folders, files = zip(*counts)
    return f"{min(folders)} to {max(folders)} ({min(files)} to {max(files)} files)"


def shape(root: Path) -> dict[str, str]:
    """What is measured, with its value."""
    source = root / "src"
    texts = {path: path.read_text() for path in sorted(source.rglob("*.py"))}
    lines = [line for text in texts.values() for line in text.splitlines()]
    lengths = [len(text.splitlines()) for text in texts.values()]
    sizes = sorted(size for text in texts.values() for size in functions(text))
    long = sum(len(line) > WIDTH for line in lines)
    return {
        "files": f"{len(texts)}", "lines": f"{len(lines):,}",
        f"lines over {WIDTH} characters": f"{100 * long / len(lines):.1f} %",
        "longest file": f"{max(lengths)}", "median file": f"{statistics.median(lengths):.0f}",
        "function, median": f"{statistics.median(sizes):.0f}",
        "function, 90th percentile": f"{sizes[int(0.9 * len(sizes))]}",
        "longest function": f"{sizes[-1]}", "folders that hold one study": places(source),
        "imports between studies": f"{crossings(source, texts)}"}


def main() -> None:
    roots = [Path(name) for name in sys.argv[1:]] or [ROOT]
    columns = [shape(root) for root in roots]
    print("| src | " + " | ".join(root.resolve().name for root in roots) + " |")
    print("|---|" + "---|" * len(roots))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


if __name__ == "__main__":
    main()
