"""What is public says what it takes, gives back and raises."""

import ast
import inspect
import re
import textwrap
from importlib import import_module

import pytest

PACKAGE = "langchain_memkit"
HOMES = ("", ".middleware", ".classic", ".testing", ".testing.conformance")
SECTION = re.compile(r"^(\w+):\n((?:[ \t]+\S.*\n?|\n)*)", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(\*{0,2}\w+)(?: \(.*?\))?:", re.MULTILINE)


def is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith(PACKAGE)


def is_told(name, function):
    """Magic methods keep to Python's own contract, overrides to their base's."""
    public = name in {"__init__", "__call__"} or not name.startswith("_")
    written = not function.__code__.co_filename.startswith("<")
    known = hasattr(function, "__override__")
    return public and written and is_ours(function) and not known


def functions_of(value):
    """Yield the functions that a public name stands for: itself, or its methods."""
    if inspect.isfunction(value):
        yield value
        return
    for base in value.__mro__ if inspect.isclass(value) else ():
        for name, member in vars(base).items() if is_ours(base) else ():
            function = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(function) and is_told(name, function):
                yield function


def public():
    for home in HOMES:
        module = import_module(PACKAGE + home)
        for name in module.__all__:
            if is_ours(value := getattr(module, name)):
                yield value


VALUES = {f"{v.__module__}.{v.__qualname__}": v for v in public()}
FUNCTIONS = {
    f"{f.__module__}.{f.__qualname__}": f
    for value in VALUES.values()
    for f in functions_of(value)
    if "<locals>" not in f.__qualname__
}


def sections(thing):
    text = inspect.cleandoc(thing.__doc__ or "") + "\n"
    return dict(SECTION.findall(text))


def entries(thing, title):
    return set(ENTRY.findall(sections(thing).get(title, "")))


def parameters(function):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(function).parameters.values()
    names = {stars.get(p.kind, "") + p.name for p in found}
    return {name for name in names if name not in {"self", "cls"}}


def body_of(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    queue = list(tree.body[0].body)
    while queue:
        node = queue.pop()
        if not isinstance(node, inner):
            yield node
            queue.extend(ast.iter_child_nodes(node))


def raised(function):
    """Name the errors of the body's own `raise` statements."""
    for node in body_of(function):
        error = node.exc if isinstance(node, ast.Raise) else None
        called = error.func if isinstance(error, ast.Call) else error
        if isinstance(called, ast.Name) and called.id.endswith("Error"):
            yield called.id


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_public_name_is_documented(value):
    """Its docstring begins with a sentence of its own."""
    summary = (value.__doc__ or "").split("\n\n")[0].strip()
    assert summary.endswith(".")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_public_function_names_each_argument(function):
    """`Args` lists the parameters, all of them and nothing else."""
    assert entries(function, "Args") == parameters(function)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_public_function_tells_what_it_returns(function):
    """`Returns` or `Yields` is there where something comes back, and only there."""
    annotation = str(inspect.signature(function).return_annotation)
    told = {"Returns", "Yields"} & sections(function).keys()
    assert bool(told) == (annotation not in {"None", "NoReturn"})


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_public_function_tells_what_it_raises(function):
    """Each error that its body raises is under `Raises`."""
    assert set(raised(function)) <= entries(function, "Raises")


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_public_value_names_each_field(value):
    """The docstring of a value lists its fields under `Attributes`."""
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is None:
        fields = getattr(value, "model_fields", {})
    annotations = vars(value).get("__annotations__", {})
    own = {name for name in fields if name in annotations and name[0] != "_"}
    if "__init__" not in vars(value):
        assert own <= entries(value, "Attributes")
