"""The settings under `openai`. Loads pydantic; imported when an application starts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from vernal import HttpClients, ServiceSettings, fallback
from vernal_openai.profiles import profile_named
from vernal_openai.service import BASE_URL, ServiceArguments


class OpenAiOptionSettings(BaseModel):
    """The options of the model where no request sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, description="Randomness, from 0 to 2.")
    top_p: float | None = Field(default=None, description="Share of the likeliest tokens to draw from, from 0 to 1.")
    max_tokens: int | None = Field(default=None, description="Greatest number of output tokens.")
    reasoning_effort: str | None = Field(default=None, description="How long a reasoning model thinks.")
    thinking: bool | None = Field(default=None, description="Whether to think, for services with a switch for it.")
    verbosity: str | None = Field(default=None, description="How long answers are: low, medium, high.")
    service_tier: str | None = Field(default=None, description="Processing tier: auto, default, flex, priority.")
    seed: int | None = Field(default=None, description="Makes answers repeatable, where the service can.")
    parallel_tool_calls: bool | None = Field(default=None, description="Whether several tools may be called at once.")
    strict: bool | None = Field(default=None, description="Whether arguments follow the tools' schemas to the letter.")


class OpenAiEmbeddingSettings(BaseModel):
    """The embedding model; it exists where its name is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = Field(default=None, description="Name of the embedding model, such as text-embedding-3-small.")
    dimensions: int | None = Field(default=None, ge=1, description="Length of the vectors, where one may choose.")
    batch_size: int = Field(default=512, ge=1, description="Texts in one request at most.")
    base_url: str | None = Field(default=None, description="Address of its API, by default openai.base_url.")
    api_key: SecretStr | None = Field(default=None, description="Its API key, by default openai.api_key.")


class OpenAiSettings(ServiceSettings, prefix="openai"):
    """How OpenAI, or a service that speaks its protocol, is reached."""

    enabled: bool = Field(default=True, description="Whether OpenAI is a candidate for the chat model.")
    api_key: Annotated[SecretStr | None, fallback("OPENAI_API_KEY")] = Field(
        default=None,
        description="The API key, demanded at the first request by services that need one; "
        "also from the variable of the service that is asked, such as GROQ_API_KEY.",
    )
    base_url: Annotated[str | None, fallback("OPENAI_BASE_URL")] = Field(
        default=None, description="Address of the API, OpenAI's by default; such as http://localhost:11434/v1."
    )
    model: str | None = Field(default=None, description="Name of the model; gpt-5-mini by default at OpenAI itself.")
    organization: Annotated[str | None, fallback("OPENAI_ORG_ID")] = Field(
        default=None, description="Organization that requests are counted for."
    )
    project: Annotated[str | None, fallback("OPENAI_PROJECT_ID")] = Field(
        default=None, description="Project that requests are counted for."
    )
    profile: str | None = Field(
        default=None,
        description="Service that is asked, such as groq, and whose ways are followed; by default the base URL tells.",
    )
    api_version: Annotated[str | None, fallback("OPENAI_API_VERSION")] = Field(
        default=None, description="Version of Azure's API by deployment; without one its newer addresses are used."
    )
    options: OpenAiOptionSettings = Field(default=OpenAiOptionSettings(), description="Options of the model.")
    embedding: OpenAiEmbeddingSettings = OpenAiEmbeddingSettings()

    @field_validator("profile")
    @classmethod
    def _is_a_profile(cls, name: str | None) -> str | None:
        return None if name is None else profile_named(name).name

    def service(self, clients: HttpClients) -> ServiceArguments:
        """How the service is reached, as models take it."""
        return ServiceArguments(
            api_key=self.api_key,
            base_url=self.base_url or BASE_URL,
            profile=self.profile,
            api_version=self.api_version,
            organization=self.organization,
            project=self.project,
            headers=self.headers,
            clients=clients,
            timeouts=self.timeouts(clients.timeouts),
            retry=self.retry(),
        )
