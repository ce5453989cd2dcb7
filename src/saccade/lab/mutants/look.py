"""What a ledger says of one altered copy of the package: claims are judged in the given order until
one is not as expected. Run as a program, with the altered copy first on the path:

    python -m saccade.lab.mutants.look STORE SEED claim claim ...

Prints one line of JSON: {"red": id or null, "verdict": ..., "judged": how many}.
"""

import json
import sys
from typing import Any


def look(names: list[str], store: str, seed: int) -> dict[str, Any]:
    from saccade.lab import registry
    from saccade.lab.ledger import Conditions, evaluate, verdict_is_expected

    conditions = Conditions(seed=seed, folder=store)
    for number, name in enumerate(names, 1):
        known = registry.of_study(name, registry.claims)
        row = evaluate(registry.one("claim", name, known), conditions)
        if not verdict_is_expected(row):
            return {"red": name, "verdict": row["error"] or row["verdict"], "judged": number}
    return {"red": None, "verdict": None, "judged": len(names)}


if __name__ == "__main__":
    print(json.dumps(look(sys.argv[3:], sys.argv[1], int(sys.argv[2]))))
