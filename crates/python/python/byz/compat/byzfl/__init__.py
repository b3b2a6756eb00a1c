"""ByzFL's aggregators, pre-aggregators and attacks: its names, parameters, defaults and results on this engine.

Change ``import byzfl`` to ``import byz.compat.byzfl as byzfl`` and ``from byzfl`` to ``from byz.compat.byzfl``. On finite input the
results are those of ByzFL 0.0.11 up to rounding. What differs, and why: docs/python.md.
"""

from .aggregators import (
    ARC,
    CAF,
    MDA,
    NNM,
    SMEA,
    Average,
    Bucketing,
    CenteredClipping,
    Clipping,
    GeometricMedian,
    Krum,
    Meamed,
    Median,
    MoNNA,
    MultiKrum,
    TrMean,
)
from .attacks import (
    ALittleIsEnough,
    Gaussian,
    Inf,
    InnerProductManipulation,
    LabelFlipping,
    Mimic,
    Optimal_ALittleIsEnough,
    Optimal_InnerProductManipulation,
    SignFlipping,
)

__all__ = [
    "ALittleIsEnough",
    "ARC",
    "Average",
    "Bucketing",
    "CAF",
    "CenteredClipping",
    "Clipping",
    "Gaussian",
    "GeometricMedian",
    "Inf",
    "InnerProductManipulation",
    "Krum",
    "LabelFlipping",
    "MDA",
    "Meamed",
    "Median",
    "Mimic",
    "MoNNA",
    "MultiKrum",
    "NNM",
    "Optimal_ALittleIsEnough",
    "Optimal_InnerProductManipulation",
    "SMEA",
    "SignFlipping",
    "TrMean",
]
