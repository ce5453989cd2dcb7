"""The BERT encoder against plain float64 NumPy, by sentence, on real and random weights."""

import json
import subprocess
import sys
import types
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from saccade.datasets.sentences import SENTIMENT, TEST_SLOTS, TRAIN_SLOTS
from saccade.errors import InvalidInput
from saccade.networks.bert import cls_states, load_bert, loading, tokenize
from saccade.networks.bert.encoder import hidden_states
from saccade.networks.bert.loading import find_model_folder

pytestmark = pytest.mark.slow

WORDS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "red", "dog", "is", "very", "nice", "village", "."]
CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "vocab_size": len(WORDS), "hidden_size": 12,
    "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 20,
    "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-5, "pad_token_id": 0}
# The second and the last have the same length, so they share a batch: their order must survive.
TEXTS = ["The village is very nice. The dog is red", "The dog is nice", "Dog", "The village is red"]


def _reference_hidden_states(tensors: dict, config: dict, ids: list[int]) -> list[np.ndarray]:
    """BERT as its paper says it: separate projections, a loop over heads, no batch, no mask."""
    tensors = {name: np.asarray(tensor, float) for name, tensor in tensors.items()}

    def dense(x, name):
        return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def norm(x, name):
        z = (x - x.mean(1, keepdims=True)) / np.sqrt(
            x.var(1, keepdims=True) + config["layer_norm_eps"])
        return z * tensors[f"{name}.LayerNorm.weight"] + tensors[f"{name}.LayerNorm.bias"]

    embedding = {
        kind: tensors[f"embeddings.{kind}_embeddings.weight"]
        for kind in ("word", "position", "token_type")}
    states = [norm(
        embedding["word"][ids] + embedding["position"][: len(ids)] + embedding["token_type"][0],
        "embeddings")]
    width = config["hidden_size"] // config["num_attention_heads"]
    for index in range(config["num_hidden_layers"]):
        x, name = states[-1], f"encoder.layer.{index}"
        query, key, value = (
            dense(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        contexts = []
        for head in range(config["num_attention_heads"]):
            part = slice(head * width, (head + 1) * width)
            weights = np.exp(query[:, part] @ key[:, part].T / np.sqrt(width))
            contexts.append(weights / weights.sum(1, keepdims=True) @ value[:, part])
        x = norm(
            x + dense(np.hstack(contexts), f"{name}.attention.output.dense"),
            f"{name}.attention.output")
        inner = dense(x, f"{name}.intermediate.dense")
        gelu = inner * (1 + erf(inner / np.sqrt(2))) / 2
        states.append(norm(x + dense(gelu, f"{name}.output.dense"), f"{name}.output"))
    return states


def _random_tensors(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), hidden),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        "embeddings.LayerNorm.weight": (hidden,), "embeddings.LayerNorm.bias": (hidden,),
        "pooler.dense.weight": (hidden, hidden)}
    for index in range(CONFIG["num_hidden_layers"]):
        dense = {f"attention.self.{part}": (hidden, hidden) for part in ("query", "key", "value")}
        dense |= {
            "attention.output.dense": (hidden, hidden), "intermediate.dense": (inner, hidden),
            "output.dense": (hidden, inner)}
        for name, shape in dense.items():
            shapes |= {
                f"encoder.layer.{index}.{name}.weight": shape,
                f"encoder.layer.{index}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {
                f"encoder.layer.{index}.{name}.{part}": (hidden,) for part in ("weight", "bias")}
    return {
        name: (0.7 * rng.normal(size=shape)).astype(np.float32) for name, shape in shapes.items()}


def _write_model(folder: Path, tensors: dict[str, np.ndarray], config: dict = CONFIG) -> Path:
    safetensors_numpy = pytest.importorskip("safetensors.numpy")
    tokenizers = pytest.importorskip("tokenizers")
    folder.mkdir(exist_ok=True)
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.enable_padding(length=14)  # stored settings that the loader has to undo
    tokenizer.enable_truncation(6)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(config))
    safetensors_numpy.save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.fixture
def tiny(tmp_path) -> Path:
    return _write_model(tmp_path / "tiny", _random_tensors())


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("tokenizers", reason="the extra encoder is not installed")
    try:
        return load_bert()
    except InvalidInput as refusal:
        pytest.skip(str(refusal))


def _largest_error(model, tensors: dict, config: dict, texts: list[str]) -> float:
    tokens, mask = tokenize(model, texts)
    states = np.asarray(
        eqx.filter_jit(hidden_states)(model.encoder, jnp.asarray(tokens), jnp.asarray(mask)))
    cls = cls_states(model.encoder, tokens, mask, batch_size=2)
    assert states.dtype == cls.dtype == np.float32
    assert mask.sum(1).min() < mask.shape[1], "the batch must contain padding"
    errors = []
    for i, length in enumerate(mask.sum(1)):
        reference = np.stack(_reference_hidden_states(tensors, config, tokens[i, :length].tolist()))
        errors += [
            np.abs(states[:, i, :length] - reference).max(),
            np.abs(cls[:, i] - reference[:, 0]).max()]
    return max(errors)


def test_random_weights_match_the_numpy_reference(tiny):
    # three layers of order-one states in float32: rounding stays near 1e-6
    assert _largest_error(load_bert(tiny), _random_tensors(), CONFIG, TEXTS) < 2e-5


def test_real_weights_match_the_numpy_reference(minilm):
    safetensors_numpy = pytest.importorskip("safetensors.numpy")
    tensors = safetensors_numpy.load_file(minilm.folder / "model.safetensors")
    config = json.loads((minilm.folder / "config.json").read_text())
    assert _largest_error(minilm, tensors, config, TEXTS) < 1e-4


def test_every_word_of_the_sentences_is_one_token(minilm):
    words = {
        word for slots in (TRAIN_SLOTS, TEST_SLOTS) for words in slots.values() for word in words
        if word}
    for word in words | set(SENTIMENT):
        assert len(minilm.tokenizer.encode(word, add_special_tokens=False).ids) == 1, word


def test_tokens_begin_with_cls_and_are_neither_cut_nor_stretched(tiny):
    tokens, mask = tokenize(load_bert(tiny), TEXTS)
    assert tokens[0].tolist() == [2, 4, 10, 7, 8, 9, 11, 4, 6, 7, 5, 3]
    assert tokens[2].tolist() == [2, 6, 3] + [0] * 9 and mask.sum(1).tolist() == [12, 6, 3, 6]


def test_padding_and_company_do_not_change_a_sentence(tiny):
    model = load_bert(tiny)
    tokens, mask = tokenize(model, TEXTS)
    together = cls_states(model.encoder, tokens, mask, batch_size=3)
    for i, length in enumerate(mask.sum(1)):
        alone = cls_states(
            model.encoder, tokens[i : i + 1, :length], mask[i : i + 1, :length], batch_size=1)
        np.testing.assert_allclose(alone[:, 0], together[:, i], atol=1e-5)
    garbage = np.where(mask, tokens, 5)  # what stands under the padding must not matter
    np.testing.assert_allclose(
        cls_states(model.encoder, garbage, mask, batch_size=3), together, atol=1e-5)


def test_layer_zero_of_cls_does_not_see_the_sentence(tiny):
    model = load_bert(tiny)
    states = cls_states(model.encoder, *tokenize(model, TEXTS))
    assert np.ptp(states[0], axis=0).max() < 1e-6 and np.ptp(states[1], axis=0).max() > 1e-2


@pytest.mark.parametrize("old_norm_names", [False, True])
def test_prefixed_and_old_names_are_read(tmp_path, tiny, old_norm_names):
    renamed = {f"bert.{name}": tensor for name, tensor in _random_tensors().items()}
    if old_norm_names:
        replace = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        for new, old in replace.items():
            renamed = {name.replace(new, old): tensor for name, tensor in renamed.items()}
    plain, other = load_bert(tiny), load_bert(_write_model(tmp_path / "prefixed", renamed))
    tokens, mask = tokenize(plain, TEXTS)
    np.testing.assert_array_equal(
        cls_states(plain.encoder, tokens, mask), cls_states(other.encoder, tokens, mask))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(tiny, name):
    (tiny / name).unlink()
    with pytest.raises(InvalidInput, match=f"lacks {name}"):
        load_bert(tiny)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_named(tiny, name):
    (tiny / name).write_bytes((tiny / name).read_bytes()[:40])
    with pytest.raises(InvalidInput, match=f"{name}.* is not "):
        load_bert(tiny)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"hidden_act": "relu"}, "hidden_act = 'relu' must be 'gelu'"),
        ({"model_type": "gpt2"}, "model_type = 'gpt2'"),
        ({"num_hidden_layers": 0}, "num_hidden_layers .* = 0"),
        ({"hidden_size": None}, "hidden_size .* = None"),
        ({"num_attention_heads": 5}, "num_attention_heads = 5 must divide"),
        ({"num_hidden_layers": 4}, "lack the tensor 'encoder.layer.3."),
        ({"intermediate_size": 21}, r"shape \(20, 12\), but config.json asks for \(21, 12\)")])
def test_a_config_that_does_not_fit_is_refused(tiny, change, message):
    (tiny / "config.json").write_text(json.dumps({**CONFIG, **change}))
    with pytest.raises(InvalidInput, match=message):
        load_bert(tiny)


def test_impossible_tokens_are_refused(tiny):
    encoder = load_bert(tiny).encoder
    ones = np.ones((1, 4), int)
    with pytest.raises(InvalidInput, match="shape"):
        cls_states(encoder, ones, ones[:, :3])
    with pytest.raises(InvalidInput, match="padding last"):
        cls_states(encoder, ones, np.array([[True, False, True, False]]))
    with pytest.raises(InvalidInput, match="token = 12 must be in"):
        cls_states(encoder, 12 * ones, ones)
    with pytest.raises(InvalidInput, match="sentence length = 17"):
        cls_states(encoder, np.ones((1, 17), int), np.ones((1, 17), bool))
    with pytest.raises(InvalidInput, match="batch_size = 0"):
        cls_states(encoder, ones, ones, batch_size=0)


def test_a_folder_that_is_not_there_is_refused():
    for source in (Path("nowhere"), "./nowhere", "a/b/c"):
        with pytest.raises(InvalidInput, match="must be an existing folder"):
            find_model_folder(source)


def test_a_hub_name_is_fetched_by_the_hub_client(tiny, monkeypatch):
    hub = types.ModuleType("huggingface_hub")
    asked = []
    hub.snapshot_download = lambda name, allow_patterns: (
        asked.append((name, sorted(allow_patterns))) or str(tiny))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert find_model_folder("someone/some-bert") == tiny
    assert asked == [("someone/some-bert", ["config.json", "model.safetensors", "tokenizer.json"])]


def test_an_unreachable_hub_is_one_sentence(monkeypatch):
    def offline(name, allow_patterns):
        raise OSError("no route to host\nmany more lines")

    hub = types.ModuleType("huggingface_hub")
    hub.snapshot_download = offline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    with pytest.raises(
        InvalidInput, match=r"^encoder = 'some-bert' is neither .* \(no route to host\)\.$"
    ):
        find_model_folder("some-bert")


@pytest.mark.parametrize("module", ["safetensors", "tokenizers", "huggingface_hub"])
def test_a_missing_optional_package_is_one_sentence(tiny, monkeypatch, module):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput, match=f"needs the package '{module}'"):
        load_bert("some-bert" if module == "huggingface_hub" else tiny)


def test_a_missing_weight_package_is_one_sentence(monkeypatch):
    monkeypatch.setattr(loading, "PACKAGE", "no-such-package-of-weights")
    with pytest.raises(InvalidInput, match="'no-such-package-of-weights' is not installed"):
        load_bert()


def test_importing_the_room_needs_no_optional_package():
    code = (
        "import sys, saccade.networks.bert;"
        " print([m for m in ('safetensors', 'tokenizers', 'torch') if m in sys.modules])")
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
