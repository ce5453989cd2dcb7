"""The claims of the sparse-token study, in the order of the paper."""

from saccade.claims.sparse_token import capacity, fits, oracle, places, planning, protocol, steps

CLAIMS = (
    *oracle.CLAIMS,
    *steps.CLAIMS,
    *fits.CLAIMS,
    *places.CLAIMS,
    *capacity.CLAIMS,
    *protocol.CLAIMS,
    *planning.CLAIMS,
)
