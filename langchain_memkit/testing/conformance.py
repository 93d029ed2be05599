"""The suite that every store of memories passes: derive a test class from it.

```python
class TestMyStore(MemoryStoreConformance):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: MyStore(tmp_path)
```
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

import pytest

pytest.register_assert_rewrite(
    "langchain_memkit.testing.store_laws", "langchain_memkit.testing.memory_laws"
)

from langchain_memkit.testing.memory_laws import (  # noqa: E402 - after the line above
    MEMORY_LAWS,
    Verbs,
    check_event_loop_is_free,
)
from langchain_memkit.testing.store_laws import (  # noqa: E402 - as above
    STORE_LAWS,
    OpenStore,
    check_concurrent_touches,
)

__all__ = ["MemoryStoreConformance"]


class MemoryStoreConformance:
    """Every law of a store, and of a memory over it, sync and async.

    A derived class has a fixture `open_store`: a callable that opens the store, at the
    same place each time it is called in a test, and at an empty one in each test.

    Attributes:
        has_atomic_touch: Whether touches at the same time are all counted. Only a
            store that documents it may say no.
    """

    has_atomic_touch: ClassVar[bool] = True

    @pytest.mark.parametrize("law", STORE_LAWS, ids=lambda law: law.__name__)
    def test_store(
        self, law: Callable[[OpenStore], None], open_store: OpenStore
    ) -> None:
        """Each law of `MemoryStore` holds.

        Args:
            law: One of `STORE_LAWS`.
            open_store: Opens the store.
        """
        law(open_store)

    def test_concurrent_touches(self, open_store: OpenStore) -> None:
        """Touches at the same time are all counted.

        Args:
            open_store: Opens the store.
        """
        if not self.has_atomic_touch:
            pytest.skip("documented: this store has no atomic update")
        check_concurrent_touches(open_store)

    @pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
    @pytest.mark.parametrize("law", MEMORY_LAWS, ids=lambda law: law.__name__)
    async def test_memory(
        self,
        law: Callable[[Verbs], Awaitable[None]],
        open_store: OpenStore,
        *,
        is_async: bool,
    ) -> None:
        """Each promise of a memory holds over the store.

        Args:
            law: One of `MEMORY_LAWS`.
            open_store: Opens the store.
            is_async: Whether the async twins are called.
        """
        await law(Verbs(open_store, is_async=is_async))

    async def test_event_loop(self, open_store: OpenStore) -> None:
        """No async verb blocks the event loop.

        Args:
            open_store: Opens the store.
        """
        await check_event_loop_is_free(open_store)
