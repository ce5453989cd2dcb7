"""What is run: samples, sums over the scores of few tokens, descent, and the states it ends in."""
