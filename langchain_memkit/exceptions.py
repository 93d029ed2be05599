"""Every error that the package raises on purpose.

```text
MemkitError
├── InvalidInputError        ValueError    a parameter breaks a rule; nothing changed
│   ├── UnsafeNameError                    a name that is no safe file name
│   └── CounterError                       a counter raised or returned no count
├── BudgetExceededError      ValueError    what must stay is larger than the budget
├── MemoryNotFoundError      LookupError   no live memory of that name
├── EvidenceNotFoundError    LookupError   a key that resolves to no document
├── EvidenceChangedError     ValueError    a document differs from what was packed
├── StoreError               OSError       a store cannot be opened, read or written
│   └── StoreVersionError                  a ledger or schema of a newer version
└── MissingExtraError        ImportError   an optional dependency is not installed
```

Each carries its data as attributes, and each derives from the builtin it refines,
so `except ValueError` and `except LookupError` keep working.
"""

from __future__ import annotations

__all__ = [
    "BudgetExceededError",
    "CounterError",
    "EvidenceChangedError",
    "EvidenceNotFoundError",
    "InvalidInputError",
    "MemkitError",
    "MemoryNotFoundError",
    "MissingExtraError",
    "StoreError",
    "StoreVersionError",
    "UnsafeNameError",
]

_SHOWN_CHARACTERS = 120


def shorten(value: object) -> str:
    """Return the `repr` of a value, cut to a length that fits an error message.

    Args:
        value: Anything.

    Returns:
        At most 120 characters, with an ellipsis where something was cut.

    Example:
        >>> shorten(-1)
        '-1'
    """
    text = repr(value)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return text[: _SHOWN_CHARACTERS - 1] + "…"


class MemkitError(Exception):
    """Base class of all errors of this package.

    Errors can be pickled and copied, so they also come back from another process.
    """

    def __reduce__(self) -> tuple[object, ...]:
        """Carry the message and the attributes, not the arguments."""
        return _rebuild, (type(self), self.args), self.__dict__


def _rebuild(kind: type[MemkitError], args: tuple[object, ...]) -> MemkitError:
    error = kind.__new__(kind)
    super(MemkitError, error).__init__(*args)
    return error


class InvalidInputError(MemkitError, ValueError):
    """A parameter that breaks a rule; raised before anything changes.

    Attributes:
        parameter: Name of the parameter or field.
        rule: What holds for it.
        value: What was given.
    """

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        """Build the message from the parameter, its rule and the value.

        Args:
            parameter: Name of the parameter or field.
            rule: What holds for it, as the end of a sentence that starts with it.
            value: What was given.
        """
        super().__init__(f"`{parameter}` {rule}, got {shorten(value)}")
        self.parameter = parameter
        self.rule = rule
        self.value = value


class UnsafeNameError(InvalidInputError):
    """A name that cannot safely become a file name or a key of a store."""


class CounterError(InvalidInputError):
    """A token counter that raised, or returned something that is no count."""


class BudgetExceededError(MemkitError, ValueError):
    """What must stay does not fit into the budget.

    Attributes:
        max_tokens: The budget, in tokens.
        floor_tokens: What must stay, in tokens.
        shortfall_tokens: By how much the floor is over the budget, in tokens.
        pinned: Short descriptions of what makes up the floor.
    """

    def __init__(
        self,
        max_tokens: int,
        floor_tokens: int,
        shortfall_tokens: int,
        pinned: tuple[str, ...] = (),
    ) -> None:
        """Build the message from the figures.

        Args:
            max_tokens: The budget, in tokens.
            floor_tokens: What must stay, in tokens.
            shortfall_tokens: By how much the floor is over the budget, in tokens.
            pinned: Short descriptions of what makes up the floor.
        """
        kept = f": {', '.join(pinned)}" if pinned else ""
        super().__init__(
            f"`max_tokens` must cover what has to stay, got {max_tokens}; the floor "
            f"needs {floor_tokens}, {shortfall_tokens} more than there is{kept}"
        )
        self.max_tokens = max_tokens
        self.floor_tokens = floor_tokens
        self.shortfall_tokens = shortfall_tokens
        self.pinned = pinned


class MemoryNotFoundError(MemkitError, LookupError):
    """No live memory has this name: it was never remembered, or it has faded.

    Attributes:
        name: The name that was asked for.
    """

    def __init__(self, name: str) -> None:
        """Build the message from the name.

        Args:
            name: The name that was asked for.
        """
        super().__init__(
            f"`name` must be that of a live memory, got {shorten(name)}: it was "
            "never remembered, was forgotten, or has faded"
        )
        self.name = name


class EvidenceNotFoundError(MemkitError, LookupError):
    """A retrieval key that resolves to no document.

    Attributes:
        key: The key that was asked for.
    """

    def __init__(self, key: str) -> None:
        """Build the message from the key.

        Args:
            key: The key that was asked for.
        """
        super().__init__(
            f"`key` must be a retrieval key of a packed document, got {shorten(key)}: "
            "it was never packed here, or its document is no longer stored"
        )
        self.key = key


class EvidenceChangedError(MemkitError, ValueError):
    """A document whose content is not what was packed under its key.

    Attributes:
        key: The retrieval key.
        expected_sha256: Hash of the content that was packed.
        actual_sha256: Hash of the content found now.
    """

    def __init__(self, key: str, expected_sha256: str, actual_sha256: str) -> None:
        """Build the message from the key and both hashes.

        Args:
            key: The retrieval key.
            expected_sha256: Hash of the content that was packed.
            actual_sha256: Hash of the content found now.
        """
        super().__init__(
            f"`key` must resolve to the text that was packed, got {shorten(key)}: its "
            f"sha256 was {expected_sha256} and is {actual_sha256}"
        )
        self.key = key
        self.expected_sha256 = expected_sha256
        self.actual_sha256 = actual_sha256


class StoreError(MemkitError, OSError):
    """A store that cannot be opened, read or written.

    Attributes:
        store: Which store, without credentials.
        reason: Why.
    """

    def __init__(self, store: str, reason: str) -> None:
        """Build the message from the store and the reason.

        Args:
            store: Which store, without credentials.
            reason: Why it cannot be used.
        """
        super().__init__(f"store {store}: {reason}")
        self.store = store
        self.reason = reason


class StoreVersionError(StoreError):
    """A ledger or schema written by a newer version; it is left untouched."""


class MissingExtraError(MemkitError, ImportError):
    """An optional dependency that is not installed.

    Attributes:
        extra: Name of the extra that installs it.
        package: The import that failed.
    """

    def __init__(self, extra: str, package: str) -> None:
        """Build the message that says what to install.

        Args:
            extra: Name of the extra that installs it.
            package: The import that failed.
        """
        super().__init__(
            f"`{package}` is not installed; run: "
            f'pip install "langchain-memkit[{extra}]"'
        )
        self.extra = extra
        self.package = package
