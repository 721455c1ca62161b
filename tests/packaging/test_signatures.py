"""Public signatures say what they take and give: a bare `dict[str, Any]` says neither."""

import ast
import re

from docs.imports import find_modules, find_room, parse

UNTYPED = set[str]()
"""Rooms whose public signatures still have some, to be mended: this list only shrinks."""


def public_functions(body, name=""):
    """Yield the functions and methods of a module or class that are for others, and their names."""
    for node in body:
        if isinstance(node, ast.If):
            yield from public_functions([*node.body, *node.orelse], name)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{name}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not re.match(
            "_(?!_(init|call)__)", node.name
        ):
            yield f"{name}{node.name}", node


def untyped(module):
    """Return the names of the public functions of a syntax tree that have `dict[str, Any]` in their signature."""
    found = []
    for name, function in public_functions(module.body):
        given = function.args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        annotations = [argument.annotation for argument in arguments if argument] + [function.returns]
        if any(annotation and "dict[str, Any]" in written(annotation) for annotation in annotations):
            found.append(name)
    return found


def written(annotation):
    """Return an annotation as source, whether it is quoted or not."""
    return ast.unparse(annotation).casefold().replace("typing.", "").replace("any", "Any")


def test_public_signatures_are_typed():
    found = {}
    for name, path in find_modules().items():
        if find_room(path) not in UNTYPED and (functions := untyped(parse(path))):
            found[name] = functions
    assert found == {}


def test_an_untyped_signature_is_found():
    source = """
def shown(row: dict[str, Any]) -> None: ...
def quoted(row: "list[dict[str, Any]]") -> None: ...
async def given() -> Dict[str, typing.Any]: ...
def _hidden(row: dict[str, Any]) -> None: ...
def typed(row: dict[str, str], **more: Any) -> None: ...
class Room:
    def __init__(self, row: dict[str, Any]) -> None: ...
    def _hidden(self, row: dict[str, Any]) -> None: ...
"""
    assert untyped(ast.parse(source)) == ["shown", "quoted", "given", "Room.__init__"]
