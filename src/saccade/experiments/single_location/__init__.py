"""The experiments of single-location regression."""

from saccade.experiments.single_location import closed_forms, descent, language, linear, simulation, states

EXPERIMENTS = (
    descent.descent,
    descent.stochastic_descent,
    descent.two_stochastic_engines,
    descent.full_descent,
    descent.outcomes,
    closed_forms.erf_moments,
    closed_forms.erf_inequalities,
    closed_forms.oracle_quadrature,
    closed_forms.manifold_landscape,
    simulation.simulated_risk,
    simulation.equal_overlaps,
    simulation.predictors,
    simulation.norm_baseline,
    simulation.spread,
    simulation.attention_layer,
    linear.linear_normal_equations,
    linear.linear_simulated,
    states.settled_state,
    states.oracle_stability,
    states.origin_modes,
    states.manifold_roots,
    states.injectivity,
    language.count_sentences,
    language.cls_probe,
)
