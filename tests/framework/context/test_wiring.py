"""`context.wire(…)`: markers of dependency-injector filled from the context."""

import sys

import pytest
from dependency_injector import containers, providers
from dependency_injector.wiring import Provide, inject

from vernal.context import bean, configuration
from vernal.errors import UsageError
from vernal.testing.runner import ApplicationContextRunner


class Service:
    pass


class Client:
    pass


class Beans(containers.DeclarativeContainer):
    service = providers.Singleton(Service)


@configuration
class Others:
    @bean
    def client(self) -> Client:
        return Client()


@inject
def by_name(service: Service = Provide["service"], client: Client = Provide["client"]) -> tuple[object, object]:
    return service, client


@inject
def by_provider(service: Service = Provide[Beans.service]) -> object:
    return service


@inject
def by_both(service: Service = Provide[Beans.service], client: Client = Provide["client"]) -> tuple[object, object]:
    return service, client


def test_markers_by_name_and_by_provider_are_filled_until_the_context_closes() -> None:
    """`Provide["bean"]` finds any bean, `Provide[Beans.x]` the user's provider, also in one function."""
    with ApplicationContextRunner().with_sources(Beans, Others).run() as run:
        context = run.context
        context.wire([sys.modules[__name__]])
        expected = (context.get(Service), context.get(Client))
        assert by_name() == expected
        assert by_provider() is expected[0]
        assert by_both() == expected
        mine = Client()
        with context.override(Client, mine):
            assert by_both()[1] is mine
    assert not isinstance(by_provider(), Service)
    with pytest.raises(UsageError):
        context.wire([__name__])
