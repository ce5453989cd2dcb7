"""The experiments of group-sparse classification."""

from saccade.experiments.group_sparse import (
    architectures,
    descent,
    finite,
    images,
    peers,
    position,
    reduced,
    reduction,
    scans,
    transfer,
    transverse,
)

EXPERIMENTS = (
    reduction.symmetric_gradient,
    reduction.two_engines,
    reduction.second_step,
    reduction.position_quadrature,
    position.position_descent,
    position.regimes,
    reduced.reduced_descent,
    descent.full_descent,
    descent.attention_pictures,
    scans.encoding_scan,
    scans.correlation_scan,
    transverse.transverse_curvature,
    architectures.architectures,
    transfer.transfer,
    transfer.batch_transfer,
    finite.from_scratch,
    peers.peers,
    images.images,
)
