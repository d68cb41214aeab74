"""`DeepSeekChatModel` holds what every chat model behind a service must, and those of OpenAI's protocol do."""

from tests.plugins.openai import test_contract

from vernal import ChatModel
from vernal.http import RetryPolicy
from vernal_deepseek import DeepSeekChatModel


class TestDeepSeekChatModel(test_contract.TestOpenAiChatModel):
    def create_model(self, base_url: str, retry: RetryPolicy) -> ChatModel:
        return DeepSeekChatModel(api_key=self.api_key, base_url=base_url, retry=retry)
