"""Bags of tokens with labels: real sets from packages, as estimators take them."""

from saccade.datasets.bags.bagset import BagSet
from saccade.datasets.bags.catalogue import how_to_get, is_here, load_bags
