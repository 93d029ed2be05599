"""Show the example of a docstring as code.

Docstrings end in `Example:`, in the singular; the reader of docstrings knows it as
`Examples:` only, and would take the code for Markdown.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_HEADING = re.compile(r"^(\s*)Example:$", re.MULTILINE)


class ExampleSections(Extension):
    """Rename the section before a docstring is read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:  # noqa: ANN401 - as the base's
        """Rename the section of one docstring.

        Args:
            obj: A module, class, function or attribute.
            **kwargs: Not used.
        """
        del kwargs
        if obj.docstring is not None:
            obj.docstring.value = _HEADING.sub(r"\1Examples:", obj.docstring.value)
