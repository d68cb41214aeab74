"""What models of every kind share at a service of OpenAI's protocol: its ways, its address, the key."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, TypedDict

from vernal import HttpClients, ServiceModel
from vernal.http import DEFAULT_RETRY_POLICY, RetryPolicy, Timeouts, TokenProvider
from vernal_openai.addresses import address_for
from vernal_openai.profiles import profile_for

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal.http import Endpoint

BASE_URL = "https://api.openai.com/v1"


class ServiceArguments(TypedDict, total=False):
    """How a model is reached; `OpenAiService` says what each is."""

    api_key: "str | SecretStr | None"
    token_provider: TokenProvider | None
    base_url: str
    profile: str | None
    api_version: str | None
    organization: str | None
    project: str | None
    headers: Mapping[str, str] | None
    clients: HttpClients | None
    timeouts: Timeouts | None
    retry: RetryPolicy


class OpenAiService(ServiceModel):
    """A model at OpenAI or any compatible service; a subclass says under which `path` it is asked.

    - `api_key`: demanded at the first request, by services that need one.
    - `token_provider`: gives a bearer token for each request instead (Entra's on Azure); it may block or be async.
    - `base_url`: the address that the path belongs under; a query is kept. The endpoint is enough of Azure's.
    - `profile`: the name of the service whose ways are followed; by default the base URL tells.
    - `api_version`: Azure's; with one, its addresses by deployment are used, and the model is the deployment.
    - `organization`, `project`: OpenAI's headers of these names; `headers`: further ones.
    - `clients`: where requests go out, and with it proxies, TLS and your own `httpx.AsyncClient`.
    - `timeouts`, `retry`: how long a request may take, and how often it is sent.

    Raises:
        ValueError: the base URL is none, or the profile is unknown.
    """

    path: ClassVar[str]
    settings_prefix: ClassVar[str] = "openai"
    """Where the settings of such models are, for errors that name the one to change."""

    def __init__(
        self,
        *,
        base_url: str = BASE_URL,
        profile: str | None = None,
        api_version: str | None = None,
        organization: str | None = None,
        project: str | None = None,
        headers: Mapping[str, str] | None = None,
        api_key: "str | SecretStr | None" = None,
        token_provider: TokenProvider | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        named = {"openai-organization": organization, "openai-project": project}
        super().__init__(
            base_url=base_url,
            headers={**{name: value for name, value in named.items() if value}, **(headers or {})},
            api_key=api_key,
            clients=clients,
            timeouts=timeouts,
            retry=retry,
        )
        self._profile = profile_for(base_url, profile)
        self._address = address_for(self._profile, base_url, self.path, api_version)
        self._token_provider = token_provider

    def open(self, *, accept: str = "application/json") -> "Endpoint":
        """The address to ask.

        Raises:
            AuthenticationError: the service needs a key, and there is none.
        """
        profile, headers = self._profile, {"accept": accept}
        variables = filter(None, (f"VERNAL_{self.settings_prefix.upper()}__API_KEY", profile.key_variable))
        cure = f"Set {' or '.join(variables)} to a valid key, or give api_key=…."
        if profile.needs_key and self._token_provider is None:
            self.required_key(profile.name, cure)
        if self._api_key:
            bearer = profile.key_header == "authorization"
            headers[profile.key_header] = f"Bearer {self._api_key}" if bearer else self._api_key
        return self.endpoint(
            service=profile.name,
            url=self._address.url,
            headers=headers,
            token_provider=self._token_provider,
            key_cure=cure,
            settings=self.settings_prefix,
        )
