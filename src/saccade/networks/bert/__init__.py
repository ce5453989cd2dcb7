"""A BERT encoder read from its published weights: what does [CLS] know at each layer? (Marion et
al. 2025, Section 2.)

`load_bert()` reads a folder, the installed MiniLM package or a hub name; `cls_states` gives the
[CLS] vectors of every layer. Only loading needs the packages safetensors and tokenizers (the extra
`encoder`).
"""

from saccade.networks.bert.encoder import cls_states
from saccade.networks.bert.loading import Bert, load_bert, tokenize
