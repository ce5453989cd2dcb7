"""The experiments of the sparse-token study."""

from saccade.experiments.sparse_token import (
    blunt,
    limits,
    open_points,
    oracle,
    places,
    readouts,
    separability,
    steps,
    training,
)

EXPERIMENTS = (
    oracle.pooled_integral,
    oracle.linear_search,
    oracle.hardmax_grid,
    oracle.token_statistics,
    steps.two_steps,
    steps.attention_maps,
    readouts.fitted,
    places.uneven_places,
    blunt.blunt_query,
    limits.population_limit,
    limits.capacity_on_draws,
    separability.separability,
    separability.token_capacity,
    training.protocol,
    open_points.reuse,
    open_points.joint_training,
    open_points.other_length,
)
