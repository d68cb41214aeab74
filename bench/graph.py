"""The container: 60 singletons in 7 layers, in vernal and in dependency-injector.

    python bench/graph.py vernal|floor

Prints how long the graph takes to define, check and link (`build`, ms), to instantiate (`make`, ms), and how long a
singleton takes to resolve (`get`, ns).
"""

import json
import sys
import timeit
from collections.abc import Callable
from dataclasses import make_dataclass
from time import perf_counter

LAYERS = (1, 2, 5, 14, 20, 14, 4)
Needs = dict[type, list[type]]


def graph() -> Needs:
    """The classes, each with those that its `__init__` takes: three of the layers below at most."""
    needs: Needs = {}
    for depth, width in enumerate(LAYERS):
        below = list(needs)
        for number in range(width):
            taken = [below[-1 - (number * 5 + index) % len(below)] for index in range(min(3, len(below)))]
            wanted = list(dict.fromkeys(taken))
            fields = [(f"part_{index}", kind) for index, kind in enumerate(wanted)]
            needs[make_dataclass(f"Layer{depth}Part{number}", fields)] = wanted
    return needs


def with_vernal(needs: Needs) -> tuple[Callable[[], object], Callable[[type], object]]:
    """Start an application with the default auto-configurations beside the beans, and resolve by type."""
    import vernal_autoconfig.plugin
    from vernal import Application, ApplicationContext, bean, configuration

    defaults = {"vernal-autoconfig": vernal_autoconfig.plugin}

    lines = ["class Beans:"]
    for kind, wanted in needs.items():
        name = kind.__name__
        parameters = ", ".join(f"part_{index}: {each.__name__}" for index, each in enumerate(wanted))
        arguments = ", ".join(f"part_{index}" for index in range(len(wanted)))
        lines += [
            " @bean",
            f" def {name.lower()}(self{', ' if wanted else ''}{parameters}) -> {name}: return {name}({arguments})",
        ]
    source = compile("\n".join(lines), "beans", "exec")
    contexts: list[ApplicationContext] = []

    def build() -> object:
        names: dict[str, object] = {**{kind.__name__: kind for kind in needs}, "bean": bean, "__name__": __name__}
        exec(source, names)  # what a module of the user's does when it is imported
        beans = names["Beans"]
        assert isinstance(beans, type)
        contexts[:] = [Application(configuration(beans), plugins=defaults).start()]
        return contexts[0]

    Application(plugins=defaults).start().close()  # imports what every application needs
    return build, lambda kind: contexts[0].get(kind)


def by_hand(needs: Needs) -> tuple[Callable[[], object], Callable[[type], object]]:
    """Fill a container of dependency-injector, and resolve by name."""
    from dependency_injector import containers, providers

    container: list[containers.DynamicContainer] = []

    def build() -> object:
        made = containers.DynamicContainer()
        known: dict[type, providers.Singleton[object]] = {}
        for kind, wanted in needs.items():
            known[kind] = providers.Singleton(kind, *(known[each] for each in wanted))
            setattr(made, kind.__name__, known[kind])
        container[:] = [made]
        return made

    return build, lambda kind: getattr(container[0], kind.__name__)()


def main(name: str) -> None:
    """Measure one of the two and print the figures."""
    needs = graph()
    build, get = (with_vernal if name == "vernal" else by_hand)(needs)
    start = perf_counter()
    build()
    built = perf_counter()
    for kind in needs:
        get(kind)
    made = perf_counter()
    top = next(reversed(needs))
    assert get(top) is get(top)
    assert len(needs) == sum(LAYERS)
    seconds = min(timeit.repeat(lambda: get(top), number=10_000, repeat=5)) / 10_000
    print(json.dumps({"build": (built - start) * 1e3, "make": (made - built) * 1e3, "get": seconds * 1e9}))


if __name__ == "__main__":
    main(sys.argv[1])
