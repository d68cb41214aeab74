"""The application context: beans declared, chosen by conditions, checked as a graph, and built by dependency-injector.

marks.py, object_provider.py    what users write: @bean, @configuration, @auto_configuration, ObjectProvider, Named
application.py                  Application: the sources of an application, and the stages of its start
settings/, plugins/             what is set, and what is installed
configurations.py, points.py    configuration classes as definitions; containers.py does it for a user's containers
definitions.py, registry.py     what is known of a bean before it exists; definitions found by type and name
conditions/, collection.py      what counts, each decision recorded; ordering.py and exclusions.py for the defaults
graph.py                        who is given what, checked while nothing is built
linking.py, creation.py         providers of dependency-injector, and the function behind each
application_context.py          the started context: lookups and closing
starting.py, lifecycle.py       what starts with the context, and its end; steps.py writes both faces once
overriding.py                   context.override(…)
injection.py                    beans for the parameters of tools that are marked Inject
failures/                       errors as data, their reports, and the one renderer
"""

from vernal.context.application import Application
from vernal.context.application_context import ApplicationContext
from vernal.context.conditions import (
    Condition,
    ConditionContext,
    ConditionOutcome,
    ConditionReport,
    condition,
    on_bean,
    on_missing_bean,
    on_missing_module,
    on_module,
    on_profile,
    on_setting,
    on_single_candidate,
)
from vernal.context.definitions import BeanDefinition, Origin, Scope
from vernal.context.failures import (
    AmbiguousBeanError,
    AnnotationError,
    BeanCloseError,
    BeanCreationError,
    CircularDependencyError,
    ContextError,
    DuplicateBeanError,
    FailureReport,
    MissingBeanError,
    OrderCycleError,
    ReservedNameError,
    ScopeError,
    UnknownExclusionError,
    UntypedBeanError,
    analyze,
    render,
)
from vernal.context.marks import auto_configuration, bean, configuration, primary
from vernal.context.object_provider import Named, ObjectProvider

__all__ = [
    "AmbiguousBeanError",
    "AnnotationError",
    "Application",
    "ApplicationContext",
    "BeanCloseError",
    "BeanCreationError",
    "BeanDefinition",
    "CircularDependencyError",
    "Condition",
    "ConditionContext",
    "ConditionOutcome",
    "ConditionReport",
    "ContextError",
    "DuplicateBeanError",
    "FailureReport",
    "MissingBeanError",
    "Named",
    "ObjectProvider",
    "OrderCycleError",
    "Origin",
    "ReservedNameError",
    "Scope",
    "ScopeError",
    "UnknownExclusionError",
    "UntypedBeanError",
    "analyze",
    "auto_configuration",
    "bean",
    "condition",
    "configuration",
    "on_bean",
    "on_missing_bean",
    "on_missing_module",
    "on_module",
    "on_profile",
    "on_setting",
    "on_single_candidate",
    "primary",
    "render",
]
