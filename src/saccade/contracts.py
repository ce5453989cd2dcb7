"""What a task, a model and a learner are: the three contracts that let any model meet any task.

Tokens are rows in every study: a batch of inputs has the shape (n, length, dim). What "where" means
is the same everywhere too: the tokens that matter, hidden from the model, and the tokens it looks
at.

A study's task may return a sample with more fields after the three, and its models may have more
methods. `tests/test_contracts.py` goes over every task and every model that a study lists in its
`contracts.py` and holds it to what is written here.
"""

from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float, Key

Kind = Literal["regression", "classification"]
Tokens = Float[Array, "n length dim"]
Mask = Bool[Array, "n length"]
"""True where there is a token; a model sees nothing of the others. None stands for all of them."""


@runtime_checkable
class Sample(Protocol):
    """A draw of n inputs with their targets and the hidden truth; a NamedTuple that begins with
    these."""

    @property
    def X(self) -> Tokens:
        """The inputs; tokens are rows."""
        ...

    @property
    def y(self) -> Float[Array, " n"]:
        """A real target, or a label in {-1, +1}."""
        ...

    @property
    def where(self) -> Bool[Array, "n length"]:
        """Which tokens matter: altering the others does not change the law of y given them."""
        ...


@runtime_checkable
class Task(Protocol):
    """A distribution of inputs, targets and a hidden truth."""

    @property
    def kind(self) -> Kind: ...

    @property
    def length(self) -> int: ...

    @property
    def dim(self) -> int: ...

    def sample(self, key: Key[Array, ""], n: int) -> Sample:
        """n independent draws; the same key gives the same draws."""
        ...

    def best(self, X: Tokens) -> Float[Array, " n"]:
        """The best prediction that knows the task, or a margin whose sign is the best label. Its
        docstring says whether that is Bayes or an oracle that is told more than X."""
        ...


@runtime_checkable
class Model(Protocol):
    """A predictor that can say where it looks."""

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Float[Array, " n"]:
        """The prediction, or a margin whose sign is the label."""
        ...

    def attention(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "n length"]:
        """Where it looks; zero where there is no token."""
        ...


@runtime_checkable
class Learner(Protocol):
    """What turns data into a model."""

    def fit(
        self, X: Tokens, y: Float[Array, " n"], mask: Mask | None = None, *, key: Key[Array, ""]
    ) -> Model: ...


class Symmetry(NamedTuple):
    """What reordering tokens does to a model: nothing ("invariant"), anything ("none"), or nothing
    within the groups that `groups` gives each token a number of ("within-groups")."""

    kind: Literal["invariant", "within-groups", "none"]
    groups: Any = None
