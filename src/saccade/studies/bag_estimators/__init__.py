"""Estimators for bags: what saccade's own estimators do on data whose truth is known, and on real
sets."""
