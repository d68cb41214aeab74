"""The settings under `deepseek`. Loads pydantic; imported when an application starts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from vernal import ServiceSettings, fallback


class DeepSeekOptionSettings(BaseModel):
    """The options of the model where no request sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    thinking: bool | None = Field(default=None, description="Whether to think before answering; the service does.")
    reasoning_effort: str | None = Field(default=None, description="How long to think: low, high, max.")
    temperature: float | None = Field(default=None, description="Randomness, from 0 to 2; without thinking only.")
    top_p: float | None = Field(default=None, description="Share of the likeliest tokens to draw from, from 0 to 1.")
    max_tokens: int | None = Field(default=None, description="Greatest number of output tokens, thoughts included.")


class DeepSeekSettings(ServiceSettings, prefix="deepseek"):
    """How DeepSeek's models are reached."""

    enabled: bool = Field(default=True, description="Whether DeepSeek is a candidate for the chat model.")
    api_key: Annotated[SecretStr | None, fallback("DEEPSEEK_API_KEY")] = Field(
        default=None, description="The API key; demanded at the first request."
    )
    base_url: str | None = Field(default=None, description="Address of the API, DeepSeek's by default.")
    model: str | None = Field(default=None, description="Name of the model, deepseek-v4-flash by default.")
    options: DeepSeekOptionSettings = Field(default=DeepSeekOptionSettings(), description="Options of the model.")
