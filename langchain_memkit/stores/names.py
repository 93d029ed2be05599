"""Which names are safe as file names on every system and as keys of every store."""

from __future__ import annotations

import re
from unicodedata import category, normalize

from pathvalidate import ValidationError, validate_filename

from langchain_memkit.exceptions import InvalidInputError, UnsafeNameError

__all__ = ["check_name", "check_namespace", "is_text"]

_LONGEST_BYTES = 252
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAIN = re.compile("[A-Za-z0-9_-](?:[A-Za-z0-9_ .-]{0,250}[A-Za-z0-9_-])?")
_DEVICE = re.compile("(?:con|prn|aux|nul|clock|com|lpt)", re.IGNORECASE)
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def check_name(name: str, *, parameter: str = "name") -> str:
    r"""Refuse a name that is no safe file name, and bring it to NFC.

    Args:
        name: What a memory is to be called.
        parameter: Name used in the error.

    Returns:
        The name in NFC, the form in which names are compared.

    Raises:
        UnsafeNameError: It is empty, `.` or `..`, over 252 bytes, reserved on some
            system, ends with a space or a period, or holds a separator, a control or
            bidi character or one of `:*?"<>|`.

    Example:
        >>> check_name("cafe\u0301") == "caf\u00e9"
        True
    """
    if is_text(name) and _PLAIN.fullmatch(name) and not _DEVICE.match(name):
        return name  # as it is nearly always; `validate_filename` takes its time
    if not is_text(name):
        raise UnsafeNameError(parameter, "must be text", name)
    plain = normalize("NFC", name)
    if not plain or plain in {".", ".."}:
        raise UnsafeNameError(parameter, "must be neither empty, `.` nor `..`", name)
    if _BIDI.search(plain) or any(category(c) in _REFUSED_CATEGORIES for c in plain):
        rule = "must hold no control or bidi characters and no lone surrogates"
        raise UnsafeNameError(parameter, rule, name)
    if len(plain.encode()) > _LONGEST_BYTES:
        rule = f"must be at most {_LONGEST_BYTES} bytes in UTF-8"
        raise UnsafeNameError(parameter, rule, name)
    try:
        validate_filename(plain, platform="universal", fs_encoding="utf-8")
    except ValidationError as error:
        rule = (
            "must be a safe file name on every system: no separator, none of "
            """`:*?"<>|`, no reserved name, and no space or period at the end"""
        )
        raise UnsafeNameError(parameter, rule, name) from error
    return plain


def is_text(value: object) -> bool:
    """Tell text from anything else.

    Args:
        value: Anything.

    Returns:
        Whether it is a `str`.

    Example:
        >>> is_text("a"), is_text(b"a")
        (True, False)
    """
    return isinstance(value, str)


def check_namespace(namespace: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is no tuple of labels.

    Args:
        namespace: Labels that lead to a compartment.

    Returns:
        The namespace.

    Raises:
        InvalidInputError: It is no tuple, empty, or holds what is no text or empty.

    Example:
        >>> check_namespace(("user", "42"))
        ('user', '42')
    """
    given: object = namespace
    labels = given if isinstance(given, tuple) else ()
    if not labels or not all(is_text(label) and label for label in labels):
        rule = "must be a tuple of at least one label, each a text that is not empty"
        raise InvalidInputError("namespace", rule, namespace)
    return namespace
