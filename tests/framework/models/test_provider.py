"""The interface of providers of chat models."""

import pytest

from vernal import ChatModelProvider


def test_a_provider_that_lacks_something_is_refused_when_its_class_is_made() -> None:
    """What is missing is named at once, not when the model is chosen."""
    with pytest.raises(TypeError, match=r"class .*Half does not define 'configured', 'create'"):

        class Half(ChatModelProvider):
            @property
            def name(self) -> str:
                return "half"
