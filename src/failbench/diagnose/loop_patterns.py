"""Patterns of loops: slips in the order of what a training loop calls.

Each takes the tree of a file and yields where it occurs. They err on the side of silence: what
another file may put right, such as a caller that switches gradients off, is not reported.
``data/code_patterns.csv`` says what each means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from failbench.diagnose.syntax import (
    assigned,
    blocks,
    called,
    calls,
    constant,
    innermost,
    keyword,
    own_nodes,
    owner,
    place,
    scopes,
)

Found = Iterator[ast.AST]

_OPTIMIZER: Final = re.compile(
    r"\bopt(?:im|imizer)?(?:_\w+)?$|optimi[sz]er(?:_\w+)?$", re.IGNORECASE
)
_SCHEDULER: Final = re.compile(r"sched", re.IGNORECASE)
_SWITCHES: Final = ("no_grad", "inference_mode", "set_grad_enabled")
_HOOKS: Final = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_backward_hook",
)


def gradients_not_cleared(tree: ast.Module) -> Found:
    """A loop with a backward pass and a step in a file that nowhere clears a gradient."""
    text = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if "zero_grad" in text or "grad" in text:
        return
    for _, nodes in innermost(tree, "backward", "step"):
        yield from _steps(nodes)[:1]


def loss_kept_with_graph(tree: ast.Module) -> Found:
    """A loss with a backward pass that is appended or added up as it is."""
    for _, nodes in innermost(tree, "backward"):
        made = [*assigned(nodes)]
        losses = {owner(call) for call in calls(nodes, "backward")}
        freed = {name for name, value, _ in made if _is_freed(value)}
        short_lived = losses | {name for name, *_ in made}
        for node in nodes:
            kept, into = None, ""
            if isinstance(node, ast.Call) and called(node) == "append" and len(node.args) == 1:
                kept, into = node.args[0], owner(node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
                kept, into = node.value, ast.unparse(node.target)
            name = ast.unparse(kept) if isinstance(kept, ast.Name | ast.Attribute) else ""
            if name in losses - freed and into not in short_lived:
                yield node


def _is_freed(value: ast.expr) -> bool:
    return bool(calls([*ast.walk(value)], "item", "detach", "float", "tolist"))


def evaluation_builds_graphs(tree: ast.Module) -> Found:
    """A model that is run in a loop after ``eval()`` in a file that never switches graphs off."""
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if named & set(_SWITCHES):
        return
    for scope in scopes(tree):
        nodes = own_nodes(scope)
        switched: dict[str, tuple[int, int]] = {}
        for switch in calls(nodes, "eval"):
            switched.setdefault(owner(switch), place(switch))
        for inner in _loops_without_loops(nodes) if switched else ():
            if calls(inner, "backward", "step", "generate"):
                continue
            for call in inner:
                model = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
                if model in switched and switched[model] < place(call):
                    yield call
                    return


def _loops_without_loops(nodes: list[ast.AST]) -> Iterator[list[ast.AST]]:
    """What is in each loop among nodes that holds no other loop."""
    for node in nodes:
        if isinstance(node, ast.For | ast.While):
            inner = own_nodes(node)
            if not any(isinstance(each, ast.For | ast.While) for each in inner):
                yield inner


def evaluation_mode_stays(tree: ast.Module) -> Found:
    """A training loop that calls ``eval()`` on a model, and ``train()`` nowhere inside it."""
    for _, nodes in innermost(tree, "backward", "eval"):
        if not calls(nodes, "train"):
            yield from (call for call in calls(nodes, "eval") if owner(call) and not call.args)


def step_before_backward(tree: ast.Module) -> Found:
    """A loop that steps its optimizer, and has its only backward passes below that."""
    for _, nodes in innermost(tree, "backward", "step"):
        steps = _steps(nodes)
        if steps and place(steps[0]) < min(map(place, calls(nodes, "backward"))):
            yield steps[0]


def scheduler_before_optimizer(tree: ast.Module) -> Found:
    """Both are stepped in one block, the scheduler first."""
    for body in blocks(tree):
        lines = [node.value for node in body if isinstance(node, ast.Expr)]
        stepped = [node for node in lines if isinstance(node, ast.Call) and called(node) == "step"]
        schedulers = [call for call in stepped if _SCHEDULER.search(owner(call))]
        optimizers = _steps([*stepped])
        if schedulers and optimizers and place(schedulers[0]) < place(optimizers[0]):
            yield schedulers[0]


def graph_retained(tree: ast.Module) -> Found:
    """The only backward pass of a loop retains the graph, and makes none of second order."""
    for _, nodes in innermost(tree, "backward"):
        passes = calls(nodes, "backward")
        if (
            len(passes) == 1
            and constant(keyword(passes[0], "retain_graph")) is True
            and keyword(passes[0], "create_graph") is None
            and not calls(nodes, "grad")
        ):
            yield passes[0]


def clipping_before_unscaling(tree: ast.Module) -> Found:
    """Gradients of a scaled loss are clipped in a file that unscales none."""
    if calls([*ast.walk(tree)], "unscale_", "unscale_gradients"):
        return
    for _, nodes in innermost(tree, "backward", "scale"):
        scaled = [call for call in calls(nodes, "backward") if ".scale(" in f"{owner(call)}."]
        for call in calls(nodes, "clip_grad_norm_", "clip_grad_value_"):
            if scaled and "accelerator" not in owner(call) and "fabric" not in owner(call):
                yield call


def backward_twice(tree: ast.Module) -> Found:
    """Two backward passes of one loss in one block, with nothing assigned to it in between."""
    for body in blocks(tree):
        open_passes: set[str] = set()
        for statement in body:
            changed = {name for name, *_ in assigned([*ast.walk(statement)])}
            if isinstance(statement, ast.AugAssign):
                changed.add(ast.unparse(statement.target))
            open_passes -= changed
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or called(call) != "backward" or call.args:
                continue
            name = owner(call)
            if "(" not in name and name in open_passes:
                yield call
            if keyword(call, "retain_graph") is None and "(" not in name:
                open_passes.add(name)


def hooks_in_loop(tree: ast.Module) -> Found:
    """A training loop that registers a hook of a module in each round, and removes none."""
    if calls([*ast.walk(tree)], "remove"):
        return
    for _, nodes in innermost(tree, "backward"):
        yield from calls(nodes, *_HOOKS)


def _steps(nodes: list[ast.AST]) -> list[ast.Call]:
    return [call for call in calls(nodes, "step") if _OPTIMIZER.search(owner(call))]


LOOP_PATTERNS: Final = (
    gradients_not_cleared,
    loss_kept_with_graph,
    evaluation_builds_graphs,
    evaluation_mode_stays,
    step_before_backward,
    scheduler_before_optimizer,
    graph_retained,
    clipping_before_unscaling,
    backward_twice,
    hooks_in_loop,
)
"""Each is in the table by its name."""
