"""The settings under `anthropic`. Loads pydantic; imported when an application starts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from vernal import ServiceSettings, fallback


class AnthropicOptionSettings(BaseModel):
    """The options of the model where no request sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: int | None = Field(default=None, description="Greatest number of output tokens, 4096 by default.")
    temperature: float | None = Field(default=None, description="Randomness, from 0 to 1.")
    top_p: float | None = Field(default=None, description="Share of the likeliest tokens to draw from, from 0 to 1.")
    thinking_budget: int | None = Field(default=None, description="Tokens to think with, at least 1024; 0: none.")
    thinking: str | None = Field(default=None, description="How the model thinks: adaptive or disabled.")
    effort: str | None = Field(default=None, description="How much trouble the model takes: low, medium, high, max.")
    cache: tuple[str, ...] | None = Field(
        default=None, description="What is marked for the prompt cache: tools, system, messages."
    )
    cache_ttl: str | None = Field(default=None, description="How long the prompt cache keeps it: 5m or 1h.")
    parallel_tool_calls: bool | None = Field(default=None, description="Whether several tools may be called at once.")
    strict: bool | None = Field(default=None, description="Whether arguments follow the tools' schemas to the letter.")
    service_tier: str | None = Field(default=None, description="Processing tier: auto, standard_only.")


class AnthropicSettings(ServiceSettings, prefix="anthropic"):
    """How Anthropic's models are reached."""

    enabled: bool = Field(default=True, description="Whether Anthropic is a candidate for the chat model.")
    api_key: Annotated[SecretStr | None, fallback("ANTHROPIC_API_KEY")] = Field(
        default=None, description="The API key; demanded at the first request."
    )
    base_url: Annotated[str | None, fallback("ANTHROPIC_BASE_URL")] = Field(
        default=None, description="Address of the API, Anthropic's by default."
    )
    bearer: bool = Field(default=False, description="Whether the key goes out as a bearer token.")
    model: str | None = Field(default=None, description="Name of the model, claude-sonnet-4-6 by default.")
    betas: tuple[str, ...] = Field(default=(), description="Beta features of the API to ask for.")
    native_structured_output: bool = Field(
        default=True, description="Whether the model has structured output of its own; else it is asked in words."
    )
    options: AnthropicOptionSettings = Field(default=AnthropicOptionSettings(), description="Options of the model.")
