"""The atlas: every learner on every task."""
