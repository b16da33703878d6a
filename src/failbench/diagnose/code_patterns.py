"""Patterns of training code: slips, silent about what another file may put right."""

import ast
import re
from collections.abc import Iterator
from typing import Final

Found = Iterator[ast.AST]
Loop = ast.For | ast.AsyncFor | ast.While
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_OTHERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_OPTIMIZER: Final = re.compile(
    r"\bopt(?:im|imizer)?(?:_\w+)?$|optimi[sz]er(?:_\w+)?$", re.IGNORECASE
)
_SCHEDULER: Final = re.compile(r"sched", re.IGNORECASE)
_SWITCHES: Final = ("no_grad", "inference_mode", "set_grad_enabled")
_HOOKS: Final = (
    "register_forward_hook", "register_forward_pre_hook",
    "register_full_backward_hook", "register_backward_hook",
)  # fmt: skip

# classes of torch.optim, and of libraries with the same interface
OPTIMIZERS: Final = frozenset(
    {"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "Adafactor", "SGD", "ASGD",
     "RMSprop", "Rprop", "LBFGS", "Lion", "FusedAdam", "AdamW8bit"}
)  # fmt: skip

_IGNORED: Final = -100  # what the cross entropy of torch ignores unless it is told otherwise


def gradients_not_cleared(tree: ast.Module) -> Found:
    """A loop with a backward pass and a step in a file that nowhere clears a gradient."""
    text = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if "zero_grad" in text or "grad" in text:
        return
    for nodes in innermost(tree, "backward", "step"):
        yield from _steps(nodes)[:1]


def loss_kept_with_graph(tree: ast.Module) -> Found:
    """A loss with a backward pass that is appended or added up as it is."""
    for nodes in innermost(tree, "backward"):
        made = [*assigned(nodes)]
        losses = {owner(call) for call in calls(nodes, "backward")}
        takes = ("item", "detach", "float", "tolist")
        freed = {name for name, value, _ in made if calls([*ast.walk(value)], *takes)}
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
    for nodes in innermost(tree, "backward", "eval"):
        if not calls(nodes, "train"):
            yield from (call for call in calls(nodes, "eval") if owner(call) and not call.args)


def step_before_backward(tree: ast.Module) -> Found:
    """A loop that steps its optimizer, and has its only backward passes below that."""
    for nodes in innermost(tree, "backward", "step"):
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
    for nodes in innermost(tree, "backward"):
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
    for nodes in innermost(tree, "backward", "scale"):
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
    for nodes in innermost(tree, "backward"):
        yield from calls(nodes, *_HOOKS)


def _steps(nodes: list[ast.AST]) -> list[ast.Call]:
    return [call for call in calls(nodes, "step") if _OPTIMIZER.search(owner(call))]


def softmax_before_cross_entropy(tree: ast.Module) -> Found:
    """A cross entropy of what a softmax gave; the logarithm of one does no harm."""
    every = [*ast.walk(tree)]
    losses = {
        name
        for name, value, _ in assigned(every)
        if isinstance(value, ast.Call) and called(value) == "CrossEntropyLoss"
    }
    for scope in scopes(tree):
        nodes = own_nodes(scope)
        made: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
        for target, value, statement in assigned(nodes):
            made.setdefault(target, []).append((value, statement))
        for call in nodes:
            if not isinstance(call, ast.Call) or not call.args:
                continue
            if called(call) == "cross_entropy" or ast.unparse(call.func) in losses:
                given = call.args[0]
                before = [
                    value
                    for value, statement in made.get(ast.unparse(given), [])
                    if place(statement) < place(call)
                ]
                last = before[-1] if before else given
                layer = last.func if isinstance(last, ast.Call) else None
                is_layer = isinstance(layer, ast.Call) and called(layer) == "Softmax"
                if is_layer or (isinstance(last, ast.Call) and called(last) == "softmax"):
                    yield call


def maximize(tree: ast.Module) -> Found:
    """An optimizer that is told to maximize."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and called(node) in OPTIMIZERS
            and constant(keyword(node, "maximize")) is True
        ):
            yield node


def all_parameters_frozen(tree: ast.Module) -> Found:
    """All parameters of a model are frozen, none is thawed, and an optimizer is given them all."""
    every = own_nodes(tree) + [each for scope in [*scopes(tree)][1:] for each in own_nodes(scope)]
    thawed = [
        value
        for name, value, _ in assigned(every)
        if name.endswith(".requires_grad") and constant(value) is not False
    ] + [call for call in calls(every, "requires_grad_") if _argument(call) is not False]
    if thawed:
        return
    given = {ast.unparse(call.args[0]) for call in calls(every, *OPTIMIZERS) if call.args}
    changed: dict[str, tuple[int, int]] = {}
    for name, _, statement in assigned(every):
        root = name.partition(".")[0]
        changed[root] = max(changed.get(root, (0, 0)), place(statement))
    for node in every:
        model = _frozen_model(node)
        last_change = changed.get(model.partition(".")[0], (0, 0))
        if f"{model}.parameters()" in given and last_change < place(node):
            yield node


def _frozen_model(node: ast.AST) -> str:
    """The model all of whose parameters a node freezes, as text."""
    if isinstance(node, ast.Call) and called(node) == "requires_grad_":
        return owner(node) if _argument(node) is False else ""
    if not isinstance(node, ast.For) or len(node.body) != 1 or not isinstance(node.iter, ast.Call):
        return ""
    name = f"{ast.unparse(node.target)}.requires_grad"
    (line,) = node.body
    freezes = any(
        target == name and constant(value) is False for target, value, _ in assigned([line])
    )
    return owner(node.iter) if freezes and called(node.iter) == "parameters" else ""


def _argument(call: ast.Call) -> object:
    given = call.args[0] if call.args else keyword(call, "requires_grad")
    return True if given is None else constant(given)


def padding_not_ignored(tree: ast.Module) -> Found:
    """Labels are filled with a number that no cross entropy of the file ignores."""
    every = [*ast.walk(tree)]
    losses = calls(every, "CrossEntropyLoss", "cross_entropy")
    ignored = []
    for call in losses:
        given = keyword(call, "ignore_index")
        ignored.append(_IGNORED if given is None else constant(given))
    if not ignored or None in ignored:
        return
    for call in (node for node in every if isinstance(node, ast.Call)):
        number = constant(keyword(call, "label_pad_token_id"))
        if called(call) == "pad_sequence" and call.args:
            labels = re.search(r"labels?\b|targets?\b", ast.unparse(call.args[0]))
            value = keyword(call, "padding_value")
            number = (0 if value is None else constant(value)) if labels else None
        if isinstance(number, int | float) and number not in ignored:
            yield call


def training_not_shuffled(tree: ast.Module) -> Found:
    """A loader of training data with ``shuffle=False`` and no sampler."""
    for call in calls([*ast.walk(tree)], "DataLoader"):
        text = ast.unparse(call.args[0]) if call.args else ""
        samplers = [keyword(call, name) for name in ("sampler", "batch_sampler")]
        if (
            re.search(r"train", text, re.IGNORECASE)
            and samplers == [None, None]
            and constant(keyword(call, "shuffle")) is False
        ):
            yield call


def own_nodes(root: ast.AST) -> list[ast.AST]:
    """All below a node in the order of the text, but for functions and classes defined in it."""
    nodes: list[ast.AST] = []
    waiting = [*ast.iter_child_nodes(root)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, _OTHERS):
            waiting += ast.iter_child_nodes(node)
    return sorted(nodes, key=place)


def place(node: ast.AST) -> tuple[int, int]:
    """Line and column of the end of a node: calls come in the order in which they are made."""
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)


def scopes(tree: ast.Module) -> Iterator[Scope]:
    """The module and each of its functions."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Statements that are run one after another."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def calls(nodes: list[ast.AST], *names: str) -> list[ast.Call]:
    """Calls of functions or methods of these names, whatever they belong to."""
    return [node for node in nodes if isinstance(node, ast.Call) and called(node) in names]


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def owner(call: ast.Call) -> str:
    """What a method is called on, as text; empty for a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The argument of that name."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def constant(node: ast.expr | None) -> object:
    """The number, word or truth that is written there, None if there is none."""
    try:
        value: object = None if node is None else ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value


def assigned(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    """Names and attributes that are assigned to, as text, with the value and the statement."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((ast.unparse(target), node.value, node) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value, node


def innermost(tree: ast.Module, *names: str) -> Iterator[list[ast.AST]]:
    """What is in each loop that calls all of these names, and no loop inside of which does."""
    having: dict[ast.AST, list[ast.AST]] = {}
    for loop in ast.walk(tree):
        nodes = own_nodes(loop) if isinstance(loop, Loop) else []
        if nodes and all(calls(nodes, name) for name in names):
            having[loop] = nodes
    yield from (nodes for nodes in having.values() if having.keys().isdisjoint(nodes))


# each is in the table by its name
CODE_PATTERNS: Final = (
    gradients_not_cleared, loss_kept_with_graph, evaluation_builds_graphs, evaluation_mode_stays,
    step_before_backward, scheduler_before_optimizer, graph_retained, clipping_before_unscaling,
    backward_twice, hooks_in_loop, softmax_before_cross_entropy, maximize, all_parameters_frozen,
    padding_not_ignored, training_not_shuffled,
)  # fmt: skip
