"""Features of steps, and guards over them: what a machine looks at where observations hardly ever repeat.

A *feature* is a named scalar of a step, a *literal* says something of one feature, a *guard* is a list of literals that
must all hold. :func:`extract_features` makes columns of all the features of episodes.
"""

from __future__ import annotations

from markovize.episodes.features.extract import extract_features, tabulate_features
from markovize.episodes.features.feature import Feature, Kind
from markovize.episodes.features.function import FeatureFunction, Features, ObservationFeatures, feature_function
from markovize.episodes.features.guard import Guard
from markovize.episodes.features.literal import Literal, Relation
from markovize.episodes.features.spaces import kinds_of_action, kinds_of_space
from markovize.episodes.features.table import FeatureTable

__all__ = [
    "Feature",
    "FeatureFunction",
    "FeatureTable",
    "Features",
    "Guard",
    "Kind",
    "Literal",
    "ObservationFeatures",
    "Relation",
    "extract_features",
    "feature_function",
    "kinds_of_action",
    "kinds_of_space",
    "tabulate_features",
]
