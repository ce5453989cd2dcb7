"""A worker gets whole files, and the claims of one experiment: a release of pytest made its plugin
forget that without a word, and everything was compiled twice."""

import pytest


def test_a_worker_is_told_the_group(request):
    if not hasattr(request.config, "workerinput"):
        pytest.skip("one process runs all tests")
    assert request.node.nodeid.endswith("@tests/test_groups.py")
