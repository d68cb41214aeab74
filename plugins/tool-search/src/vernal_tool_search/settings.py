"""The settings under `chat.client.tool_search_advisor`. Loads pydantic; imported when an application starts."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vernal import CONVERSATION_ID, HIGHEST_PRECEDENCE, LOWEST_PRECEDENCE, Duration, Settings
from vernal_tool_search.advisor import DEFAULT_SYSTEM_MESSAGE_SUFFIX
from vernal_tool_search.keyword import MIN_SCORE


class KeywordSettings(BaseModel):
    """The search by words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_score_threshold: float = Field(
        default=MIN_SCORE, ge=0, le=1, description="Least share of the best result's score."
    )


class SemanticSettings(BaseModel):
    """The search by meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_score_threshold: float = Field(default=0.0, ge=-1, le=1, description="Least cosine of a result, from -1 to 1.")


class EvictionSettings(BaseModel):
    """When sessions are forgotten."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    capacity: int = Field(default=1000, ge=1, description="Sessions that are kept: those used last.")
    ttl: Duration | None = Field(default=None, description="How long an unused session is kept; by default for ever.")


class ToolSearchSettings(Settings, prefix="chat.client.tool_search_advisor"):
    """The tool loop that shows the model only a search, and the tools found with it."""

    enabled: bool = Field(default=False, description="Whether it takes the place of the default tool loop.")
    tool_index_type: Literal["regex", "keyword", "semantic", "hybrid"] = Field(
        default="regex",
        description="How tools are searched: by regex, keyword, semantic (an embedding model), hybrid (the last two).",
    )
    advisor_order: int = Field(
        default=HIGHEST_PRECEDENCE + 300,
        gt=HIGHEST_PRECEDENCE,
        lt=LOWEST_PRECEDENCE,
        description="Where the advisor stands; advisors of a greater order are inside its loop.",
    )
    max_results: int = Field(default=5, ge=1, description="Tools that a search gives where the model sets no number.")
    session_id_key_name: str = Field(
        default=CONVERSATION_ID, min_length=1, description="The advisor parameter that names the session."
    )
    reference_tool_name_accumulation: bool = Field(
        default=True, description="Whether what earlier searches found stays on offer."
    )
    system_message_suffix: str = Field(
        default=DEFAULT_SYSTEM_MESSAGE_SUFFIX, description="What the system message says of the search."
    )
    keyword: KeywordSettings = KeywordSettings()
    semantic: SemanticSettings = SemanticSettings()
    eviction: EvictionSettings = EvictionSettings()
