"""Conditions: what decides whether a configuration class or a bean method counts, each decision recorded."""

from vernal.context.conditions.base import Condition, ConditionContext, ModuleProbe, condition
from vernal.context.conditions.beans import on_bean, on_missing_bean, on_single_candidate
from vernal.context.conditions.environment import on_missing_module, on_module, on_profile, on_setting
from vernal.context.conditions.outcome import ConditionOutcome, ConditionRecord, ConditionReport

__all__ = [
    "Condition",
    "ConditionContext",
    "ConditionOutcome",
    "ConditionRecord",
    "ConditionReport",
    "ModuleProbe",
    "condition",
    "on_bean",
    "on_missing_bean",
    "on_missing_module",
    "on_module",
    "on_profile",
    "on_setting",
    "on_single_candidate",
]
