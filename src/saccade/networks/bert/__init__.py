"""A BERT encoder read from its published weights: what does [CLS] know at each layer? (Marion et
al. 2025, Section 2.)

`load_bert()` reads a folder, the installed MiniLM package or a hub name; `cls_states` gives the
[CLS] vectors of every layer. Only loading needs the packages safetensors and tokenizers (the extra
`encoder`).
"""

from saccade.networks.bert.activations import cls_states
from saccade.networks.bert.encoder import BertConfig, BertEncoder, hidden_states
from saccade.networks.bert.loading import Bert, load_bert, tokenize
from saccade.networks.bert.source import PACKAGE, find_model_folder

__all__ = [
    "PACKAGE", "Bert", "BertConfig", "BertEncoder", "cls_states", "find_model_folder",
    "hidden_states", "load_bert", "tokenize"]
