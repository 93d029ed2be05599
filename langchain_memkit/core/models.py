"""The base of all public value types, and the checks of plain arguments."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_memkit.exceptions import InvalidInputError

__all__ = [
    "Count",
    "Finite",
    "FrozenModel",
    "Share",
    "check_choice",
    "check_count",
    "check_flag",
    "check_positive",
    "check_share",
    "refuse_validation",
]

Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number of at least 0; neither a float nor a boolean."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A number that is neither NaN nor infinite."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""


def refuse_validation(error: ValidationError) -> InvalidInputError:
    """Turn pydantic's error into ours: the first field that breaks its rule.

    Args:
        error: What pydantic raised.

    Returns:
        The error that names the field, the rule and the value.

    Example:
        >>> from pydantic import TypeAdapter
        >>> try:
        ...     TypeAdapter(Count).validate_python(-1)
        ... except ValidationError as error:
        ...     refuse_validation(error).value
        -1
    """
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInputError):
        return cause
    field = ".".join(str(part) for part in first["loc"]) or error.title
    message = first["msg"]
    return InvalidInputError(field, message[:1].lower() + message[1:], first["input"])


class FrozenModel(BaseModel):
    """A value that never changes, checks its fields and survives a JSON round trip.

    Example:
        >>> class Point(FrozenModel):
        ...     x: Count
        >>> Point.model_validate_json(Point(x=1).model_dump_json())
        Point(x=1)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:  # noqa: ANN401 - pydantic's own contract
        """Check the fields.

        Args:
            **data: The fields, by name.

        Raises:
            InvalidInputError: A field breaks its rule.
        """
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise refuse_validation(error) from error

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:  # noqa: ANN401 - as above
        """Check and build a value from a mapping or an instance.

        Args:
            obj: The mapping or instance.
            **options: Passed on to pydantic.

        Returns:
            The value.

        Raises:
            InvalidInputError: A field breaks its rule.
        """
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise refuse_validation(error) from error

    @classmethod
    def model_validate_json(
        cls,
        json_data: str | bytes | bytearray,
        **options: Any,  # noqa: ANN401 - as above
    ) -> Self:
        """Check and build a value from JSON.

        Args:
            json_data: What `model_dump_json` wrote.
            **options: Passed on to pydantic.

        Returns:
            The value.

        Raises:
            InvalidInputError: The text is no JSON, or a field breaks its rule.
        """
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            raise refuse_validation(error) from error


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_count(parameter: str, value: int) -> int:
    """Refuse what is not a whole number of at least 0.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The value.

    Raises:
        InvalidInputError: It is no whole number, a boolean, or below 0.

    Example:
        >>> check_count("budget_tokens", 0)
        0
    """
    if not _is_whole(value) or value < 0:
        raise InvalidInputError(
            parameter, "must be a whole number of at least 0", value
        )
    return value


def check_positive(parameter: str, value: int) -> int:
    """Refuse what is not a whole number of at least 1.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The value.

    Raises:
        InvalidInputError: It is no whole number, a boolean, or below 1.

    Example:
        >>> check_positive("max_tokens", 1)
        1
    """
    if not _is_whole(value) or value < 1:
        raise InvalidInputError(
            parameter, "must be a whole number of at least 1", value
        )
    return value


def check_share(parameter: str, value: float) -> float:
    """Refuse what is not a number from 0 to 1.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The value.

    Raises:
        InvalidInputError: It is no number, NaN, below 0 or above 1.

    Example:
        >>> check_share("importance", 0.5)
        0.5
    """
    given: object = value
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= value <= 1:  # never true of NaN
        raise InvalidInputError(parameter, "must be a number from 0 to 1", value)
    return value


def check_flag(parameter: str, value: bool) -> bool:  # noqa: FBT001 - the subject
    """Refuse what is neither True nor False.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The value.

    Raises:
        InvalidInputError: It is no boolean.

    Example:
        >>> check_flag("persist", True)
        True
    """
    given: object = value
    if not isinstance(given, bool):
        raise InvalidInputError(parameter, "must be True or False", value)
    return value


def check_choice(parameter: str, value: str, choices: tuple[str, ...]) -> str:
    """Refuse what is not one of the choices.

    Args:
        parameter: Name used in the error.
        value: What was given.
        choices: What is allowed.

    Returns:
        The value.

    Raises:
        InvalidInputError: It is none of the choices.

    Example:
        >>> check_choice("reasoning", "auto", ("auto", "keep"))
        'auto'
    """
    given: object = value
    if not isinstance(given, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInputError(parameter, f"must be one of {allowed}", value)
    return value
