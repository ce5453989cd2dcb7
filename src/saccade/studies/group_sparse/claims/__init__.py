"""The claims of group-sparse classification, in the order of the paper."""

from typing import Any

from saccade.lab.claim import Claim

ORDER = ("reduction", "concentration", "departures", "structure", "transfer", "finding")


def claim(
    id: str, spec: str, statement: str, argued: str, finding: str = "", **fields: Any
) -> Claim:
    """A claim whose words come first: what it states, why its resolution is right, and, where there
    is more to say, what was found. `functools.partial` of it for claims that share fields."""
    return Claim(id=id, spec=spec, statement=statement, argued=argued, finding=finding, **fields)
