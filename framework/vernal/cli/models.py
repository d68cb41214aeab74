"""The chat models of an application: its providers, which model answers and why, and whether it does."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from vernal.cli.inspection import Inspection
from vernal.context.application_context import ApplicationContext
from vernal.context.definitions import BeanDefinition
from vernal.context.failures import analyze
from vernal.context.failures.errors import describe_exception
from vernal.errors import ConfigurationError
from vernal.models.chat import ChatModel
from vernal.models.choice import OFFLINE, ChatModelChoice
from vernal.models.provider import ChatModelProvider
from vernal.values.prompt import Prompt
from vernal.values.records import dataclass

LATER = "a provider needs asynchronous beans, which only start with the application; --check starts it"
QUESTION = "Answer with the single word: ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProvider:
    """A provider of chat models; `problem` says why it could not be asked, and its `name` is then that of its bean."""

    name: str
    configured: bool
    chosen: bool
    origin: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model said when it was asked: a text and the seconds that it took, or the problem."""

    text: str | None = None
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Which model answers: `name` such as `openai:gpt-5-mini`, `reason` why it is this one; `problem` where none can.

    Without name and problem it is not known, for the given reason. `configured` is False where the model lacks what it
    needs to be reached, `nameless` is True where neither the settings nor the provider name a model; `advice` says what
    to configure where the offline model answers for want of another.
    """

    name: str | None = None
    reason: str = ""
    configured: bool = True
    nameless: bool = False
    advice: str = ""
    problem: str = ""
    providers: tuple[FoundProvider, ...] = ()
    answer: Answer | None = None

    @property
    def failed(self) -> bool:
        """No model can answer, or it was asked and did not."""
        return bool(self.problem or (self.answer is not None and self.answer.problem))


def find_models(inspection: Inspection) -> Models:
    """Which model answers, as far as it can be told without starting: of all beans only the providers are built.

    Where the beans do not fit together, the providers are known by their beans alone.
    """
    if inspection.context is None:
        return _unknown(inspection.application.beans, problem="the application does not start")
    beans, graph = inspection.context.beans, inspection.context.graph
    asked = [bean.name for kind in (ChatModelProvider, ChatModelChoice) for bean in _beans_of(beans, kind)]
    if any(_waits(name, beans, graph) for name in asked):
        return _unknown(beans, reason=LATER)
    with inspection.building_on_request() as context:
        return _found(context)


def ask_model(inspection: Inspection) -> Models:
    """Which model answers, and what it says to a short question; the application is started for it.

    Where the start fails, `inspection.failure` says why.
    """
    try:
        with inspection.running() as context:
            return replace(_found(context), answer=_asked(context))
    except Exception as error:  # noqa: BLE001 - a start may fail in any way, which is shown
        inspection.failure = analyze(error)
        return _unknown(inspection.application.beans, problem="the application does not start")


def _found(context: ApplicationContext) -> Models:
    built = {bean.name: _built(context, bean) for bean in _beans_of(context.beans, ChatModelProvider)}
    models = _answering(context)
    chosen = models.name.partition(":")[0] if models.name else None
    providers = [_provider(context.beans[name], provider, chosen=chosen) for name, provider in built.items()]
    return replace(models, providers=tuple(providers))


def _unknown(beans: Mapping[str, BeanDefinition], *, reason: str = "", problem: str = "") -> Models:
    providers = [_provider(bean, reason or problem, chosen=None) for bean in _beans_of(beans, ChatModelProvider)]
    return Models(reason=reason, problem=problem, providers=tuple(providers))


def _waits(name: str, beans: Mapping[str, BeanDefinition], graph: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a bean is asynchronous, or is given one: only a start can build it."""
    return beans[name].construction.is_async or any(_waits(each, beans, graph) for each in graph[name])


def _answering(context: ApplicationContext) -> Models:
    """What the context's own choice says, or the bean that makes a choice needless."""
    models = list(_beans_of(context.beans, ChatModel))
    choices = list(_beans_of(context.beans, ChatModelChoice))
    if not models:
        return Models(problem="there is no bean of type ChatModel")
    if not choices:
        primary = next((bean for bean in models if bean.primary), models[0])
        return Models(name=f"bean {primary.name!r}", reason=f"it is declared by {primary.origin}")
    try:
        choice = context.get(ChatModelChoice)
        name = _name(choice)
        return Models(
            name=name,
            reason=choice.reason,
            nameless=choice.provider is not None and ":" not in name,
            configured=choice.provider is None or choice.provider.configured,
            advice=choice.advice,
        )
    except ConfigurationError as error:
        return Models(problem=str(error))
    except Exception as error:  # noqa: BLE001 - a provider may raise anything
        return Models(problem=describe_exception(error))


def _name(choice: ChatModelChoice) -> str:
    if choice.provider is None:
        return OFFLINE
    model = choice.model
    if model is None:
        options = choice.provider.create().default_options
        model = options.model if options is not None else None
    return f"{choice.provider.name}:{model}" if model else choice.provider.name


def _asked(context: ApplicationContext) -> Answer:
    start = time.perf_counter()
    try:
        text = context.get(ChatModel).call(Prompt(QUESTION)).text
    except Exception as error:  # noqa: BLE001 - whatever keeps the model from answering is what is looked for
        return Answer(problem=describe_exception(error), seconds=time.perf_counter() - start)
    return Answer(text=text, seconds=time.perf_counter() - start)


def _provider(bean: BeanDefinition, built: ChatModelProvider | str, *, chosen: str | None) -> FoundProvider:
    if isinstance(built, str):
        return FoundProvider(name=bean.name, configured=False, chosen=False, origin=str(bean.origin), problem=built)
    return FoundProvider(
        name=built.name, configured=built.configured, chosen=built.name == chosen, origin=str(bean.origin)
    )


def _built(context: ApplicationContext, bean: BeanDefinition) -> ChatModelProvider | str:
    """The provider, or why there is none."""
    try:
        provider: ChatModelProvider = context.get(bean.type, name=bean.name)
    except Exception as error:  # noqa: BLE001 - the bean of a plugin may raise anything
        return describe_exception(error)
    return provider


def _beans_of(beans: Mapping[str, BeanDefinition], kind: type) -> Iterator[BeanDefinition]:
    """The beans that are of a type by their declaration."""
    for bean in beans.values():
        if isinstance(bean.type, type) and issubclass(bean.type, kind):
            yield bean
