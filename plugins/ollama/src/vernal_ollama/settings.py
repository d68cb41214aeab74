"""The settings under `ollama`. Loads pydantic; imported when an application starts."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from vernal import ServiceSettings, fallback


class Pull(StrEnum):
    """When Ollama is asked to fetch a model."""

    NEVER = "never"
    MISSING = "missing"


class OllamaOptionSettings(BaseModel):
    """The options of the model where no request sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, description="Randomness, from 0.")
    top_p: float | None = Field(default=None, description="Share of the likeliest tokens to draw from, from 0 to 1.")
    top_k: int | None = Field(default=None, description="Number of the likeliest tokens to draw from.")
    min_p: float | None = Field(default=None, description="Least share of the likeliest token's chance, from 0 to 1.")
    max_tokens: int | None = Field(default=None, description="Greatest number of output tokens.")
    num_ctx: int | None = Field(default=None, description="Tokens of context; what does not fit is cut away.")
    repeat_penalty: float | None = Field(default=None, description="How strongly repetitions are avoided.")
    seed: int | None = Field(default=None, description="Makes answers repeatable.")
    think: bool | str | None = Field(default=None, description="Whether the model thinks first: true, false, low, …")
    keep_alive: str | None = Field(default=None, description="How long the model stays in memory, such as 10m.")


class OllamaSettings(ServiceSettings, prefix="ollama"):
    """How Ollama is reached."""

    enabled: bool = Field(default=True, description="Whether Ollama is a candidate for the chat model.")
    api_key: Annotated[SecretStr | None, fallback("OLLAMA_API_KEY")] = Field(
        default=None, description="The API key of ollama.com, or of a proxy before Ollama."
    )
    base_url: Annotated[str | None, fallback("OLLAMA_HOST")] = Field(
        default=None, description="Address of Ollama, http://localhost:11434 by default."
    )
    model: str | None = Field(default=None, description="Name of the model, as 'ollama list' shows it.")
    pull: Pull = Field(default=Pull.NEVER, description="When a model is fetched: never, or where it is missing.")
    options: OllamaOptionSettings = Field(default=OllamaOptionSettings(), description="Options of the model.")
