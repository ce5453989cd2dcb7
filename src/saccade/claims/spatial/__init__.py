"""The claims of the spatial study, in the order of the paper; the appendix's inequalities and real images last."""

from saccade.claims.spatial import appendix, data, descent, finite, images, images_checks, symmetry

CLAIMS = (
    *data.CLAIMS,
    *symmetry.CLAIMS,
    *descent.CLAIMS,
    *finite.CLAIMS,
    *appendix.CLAIMS,
    *images_checks.CLAIMS,
    *images.CLAIMS,
)
