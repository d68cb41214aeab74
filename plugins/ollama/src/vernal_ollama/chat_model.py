"""`OllamaChatModel`: models that Ollama runs, over its native API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vernal import ChatOptions, HttpClients, ServiceChatModel
from vernal.http import DEFAULT_RETRY_POLICY, RetryPolicy, Timeouts
from vernal_ollama.options import OllamaChatOptions, on_top_of

if TYPE_CHECKING:
    from pydantic import SecretStr

    from vernal import Exchange

BASE_URL = "http://localhost:11434"
CLOUD = "ollama.com"
PORT = 11434
KEY_CURE = "Set VERNAL_OLLAMA__API_KEY or OLLAMA_API_KEY to a valid key, or give api_key=…."


class OllamaChatModel(ServiceChatModel):
    """A chat model that Ollama runs, on this machine, another one, or at ollama.com.

    - `base_url`: the address of Ollama, `http://localhost:11434` by default; the forms of `OLLAMA_HOST` are understood.
    - `options`: the model's own options, under those of client and request; at least the name of the model.
    - `api_key`: what ollama.com, or a proxy before Ollama, wants as a bearer token.
    - `pull`: whether a model that Ollama does not have is fetched, with a warning and progress in the log
      `vernal.ollama`; by default it is an error that says how to.
    - `headers`, `clients`, `timeouts`, `retry`: as in every `ServiceChatModel`.

    Raises:
        ValueError: the base URL is none.
    """

    native_structured_output = True

    def __init__(
        self,
        *,
        api_key: "str | SecretStr | None" = None,
        base_url: str = BASE_URL,
        options: ChatOptions | None = None,
        pull: bool = False,
        headers: Mapping[str, str] | None = None,
        clients: HttpClients | None = None,
        timeouts: Timeouts | None = None,
        retry: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        super().__init__(
            api_key=api_key,
            base_url=address_of(base_url),
            headers=headers,
            clients=clients,
            timeouts=timeouts,
            retry=retry,
        )
        self._pull = pull
        self._options = on_top_of(OllamaChatOptions(), options)

    def __repr__(self) -> str:
        return f"OllamaChatModel(model={self._options.model!r}, url={self._base_url!r})"

    @property
    def default_options(self) -> OllamaChatOptions:
        """The model's own options."""
        return self._options

    def connect(self) -> "Exchange":
        """How prompts become requests of the protocol.

        Raises:
            AuthenticationError: ollama.com is asked without a key.
        """
        headers = {"accept": "application/x-ndjson, application/json"}
        if is_cloud(self._base_url):
            self.required_key("ollama", KEY_CURE)
        if self._api_key:
            headers["authorization"] = f"Bearer {self._api_key}"
        from vernal_ollama.exchange import OllamaExchange
        from vernal_ollama.requests import RequestWriter

        endpoint = self.endpoint(
            service="ollama", url=self._base_url, headers=headers, key_cure=KEY_CURE, settings="ollama"
        )
        return OllamaExchange(endpoint, RequestWriter(self._options), pull=self._pull)


def is_cloud(base_url: str) -> bool:
    """Whether the address is that of ollama.com."""
    host = urlsplit(base_url).hostname or ""
    return host == CLOUD or host.endswith(f".{CLOUD}")


def address_of(base_url: str) -> str:
    """The address under which `/api` is found, for a URL or what `OLLAMA_HOST` may be: `host`, `host:port`, `:port`.

    `0.0.0.0`, where a server listens everywhere, is reached at this machine.
    """
    text = base_url.strip().rstrip("/").removesuffix("/api").removesuffix("/v1")
    if "://" not in text:
        host, _, path = text.partition("/")
        if host.startswith(":"):
            host = f"localhost{host}"
        if urlsplit(f"//{host}").port is None:
            host = f"{host}:{PORT}"
        text = f"http://{host}/{path}".rstrip("/")
    return text.replace("//0.0.0.0", "//127.0.0.1", 1)
