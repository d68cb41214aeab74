"""Failures as data: the errors of an application context, their reports, and the one renderer."""

from vernal.context.failures.analysis import analyze
from vernal.context.failures.errors import (
    AmbiguousBeanError,
    AnnotationError,
    BeanCloseError,
    BeanCreationError,
    CircularDependencyError,
    ContextError,
    DuplicateBeanError,
    KeptOut,
    MissingBeanError,
    OrderCycleError,
    ReservedNameError,
    ScopeError,
    UnknownExclusionError,
    UntypedBeanError,
)
from vernal.context.failures.rendering import render
from vernal.context.failures.report import FailureReport

__all__ = [
    "AmbiguousBeanError",
    "AnnotationError",
    "BeanCloseError",
    "BeanCreationError",
    "CircularDependencyError",
    "ContextError",
    "DuplicateBeanError",
    "FailureReport",
    "KeptOut",
    "MissingBeanError",
    "OrderCycleError",
    "ReservedNameError",
    "ScopeError",
    "UnknownExclusionError",
    "UntypedBeanError",
    "analyze",
    "render",
]
