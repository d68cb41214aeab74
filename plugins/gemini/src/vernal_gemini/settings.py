"""The settings under `gemini`. Loads pydantic; imported when an application starts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from vernal import ServiceSettings, fallback


class GeminiOptionSettings(BaseModel):
    """The options of the model where no request sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, description="Randomness, from 0 to 2.")
    top_p: float | None = Field(default=None, description="Share of the likeliest tokens to draw from, from 0 to 1.")
    top_k: int | None = Field(default=None, description="Number of the likeliest tokens to draw from.")
    max_tokens: int | None = Field(default=None, description="Greatest number of output tokens.")
    thinking_budget: int | None = Field(default=None, description="Tokens to think with; 0: none, -1: as needed.")
    thinking_level: str | None = Field(default=None, description="How hard newer models think: low, high.")
    include_thoughts: bool | None = Field(default=None, description="Whether a summary of the thinking is given.")
    seed: int | None = Field(default=None, description="Makes answers repeatable, where the model can.")
    safety_settings: dict[str, str] | None = Field(default=None, description="Thresholds by category of harm.")


class GeminiSettings(ServiceSettings, prefix="gemini"):
    """How Gemini's models are reached."""

    enabled: bool = Field(default=True, description="Whether Gemini is a candidate for the chat model.")
    api_key: Annotated[SecretStr | None, fallback("GEMINI_API_KEY", "GOOGLE_API_KEY")] = Field(
        default=None, description="The API key; demanded at the first request."
    )
    base_url: str | None = Field(default=None, description="Address of the API, Google's by default.")
    model: str | None = Field(default=None, description="Name of the model, gemini-2.5-flash by default.")
    options: GeminiOptionSettings = Field(default=GeminiOptionSettings(), description="Options of the model.")
