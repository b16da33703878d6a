"""Unchanged: monitors a program that says nothing of the monitor, as ``failbench watch`` does.

Trainers of Transformers and Lightning get their callback when they are made. In any other loop the
model is found when the first batch is asked for, or at the first call of a model, whichever comes
first: the module that holds most of what the program's optimizers train.
"""

from __future__ import annotations

import gc
import importlib.abc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import torch
from torch.utils.data import DataLoader

from failbench.monitor.integrations.callback import CallbackMonitor
from failbench.monitor.integrations.logs import OF_LOOP, OF_TRAINER, free
from failbench.monitor.signals import Level

# modules with a class that is made once for each training, and the module and name of its callback
TRAINERS: Final = {
    "transformers.trainer": ("transformers", "TransformersCallback"),
    "lightning.pytorch.trainer.trainer": ("lightning", "LightningCallback"),
    "pytorch_lightning.trainer.trainer": ("lightning", "LightningCallback"),
}
_LOADERS: Final = {"accelerate.data_loader": ("DataLoaderShard", "DataLoaderDispatcher")}


def attach(folder: str | os.PathLike[str], level: Level = "standard", every: int = 10) -> None:
    """Monitor whatever this process trains from now on.

    Parameters
    ----------
    folder
        Where logs go: to ``loop`` inside, or ``trainer`` where a library's trainer trains; with a
        stroke more for each later training. Only the process that calls this is monitored.
    level, every
        As of :class:`failbench.monitor.Monitor`.

    Raises
    ------
    FileExistsError
        If the folder holds a log already.
    """
    _Attached(Path(folder), level, every)


def run(arguments: Sequence[str]) -> None:
    """Run a program with its arguments, as ``python program.py`` would, and monitor it."""
    folder, program, *_ = arguments
    attach(folder)
    sys.argv = [*arguments[1:]]
    sys.path[0] = str(Path(program).resolve().parent)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=program, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    exec(compile(Path(program).read_bytes(), program, "exec"), module.__dict__)  # noqa: S102


class _Attached:
    """What the program does with the parts of PyTorch that every loop has."""

    def __init__(self, folder: Path, level: Level, every: int) -> None:
        self._folder, self._level, self._every = folder, level, every
        self._monitor = CallbackMonitor(folder / OF_LOOP, level, every)
        self._optimizers: list[Any] = []
        self._parameters: set[int] = set()
        self._begun = self._iterates = False
        self._computed: tuple[Any, Any, Any] | None = None
        self._patch(torch.optim.Optimizer, "__init__", self._optimizer_is_made)
        self._hear_calls()
        self._patch(DataLoader, "__iter__", self._loader_is_read)
        self._patch(torch.Tensor, "backward", self._backward_is_called)
        self._patch(torch.nn.functional, "cross_entropy", self._loss_is_computed)
        later: dict[str, Callable[[ModuleType], None]] = dict.fromkeys(TRAINERS, self._trainer)
        later |= dict.fromkeys(_LOADERS, self._loaders)
        for name in [*later]:
            if name in sys.modules:
                later.pop(name)(sys.modules[name])
        sys.meta_path.insert(0, _Imported(later))

    def _hear_calls(self) -> None:
        self._undo_call = self._patch(torch.nn.Module, "__call__", self._module_is_called)

    @staticmethod
    def _patch(owner: Any, name: str, around: Callable[..., Any]) -> Callable[[], None]:
        """Let a function get each call of another, as its first argument."""
        original = getattr(owner, name)

        def patched(*args: Any, **kwargs: Any) -> Any:
            return around(original, *args, **kwargs)

        patched.__wrapped__ = original  # type: ignore[attr-defined]
        setattr(owner, name, patched)
        return lambda: setattr(owner, name, original)

    def _trainer(self, module: ModuleType) -> None:
        where, name = TRAINERS[module.__name__]

        def made(init: Callable[..., None], trainer: Any, *args: Any, **kwargs: Any) -> None:
            init(trainer, *args, **kwargs)
            self._give_up()  # what the library trains, its callback sees better
            integration = importlib.import_module(f"failbench.monitor.integrations.{where}")
            folder = free(self._folder / OF_TRAINER)
            callback = getattr(integration, name)(folder, self._level, self._every)
            if hasattr(trainer, "add_callback"):
                trainer.add_callback(callback)
            else:
                trainer.callbacks.append(callback)

        self._patch(module.Trainer, "__init__", made)

    def _loaders(self, module: ModuleType) -> None:
        for name in _LOADERS[module.__name__]:
            self._patch(getattr(module, name), "__iter__", self._loader_is_read)

    def _give_up(self) -> None:
        self._begun = True
        self._undo_call()

    def _optimizer_is_made(self, init: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        init(optimizer, *args, **kwargs)
        if self._is_watching() and not _held_by([optimizer]) <= self._parameters:
            self._begin_again()  # what it trains was not there: another model, or parts added to it
        self._optimizers.append(optimizer)

    def _begin_again(self) -> None:
        self._monitor.close()
        folder = free(self._folder / OF_LOOP)
        self._monitor = CallbackMonitor(folder, self._level, self._every)
        self._optimizers, self._begun = [], False
        self._hear_calls()

    def _module_is_called(self, call: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            self._begin()
        return call(module, *args, **kwargs)

    def _begin(self) -> None:
        """Watch what is trained, when there is something."""
        if self._begun or not self._optimizers:
            return
        self._give_up()
        model = _trained(self._optimizers)
        if model is not None:
            self._parameters = {id(each) for each in model.parameters()}
            self._monitor.watch(model, *self._optimizers)

    def _is_watching(self) -> bool:
        return self._monitor.watched is not None and not self._monitor.ended

    def _loader_is_read(self, iterate: Any, loader: Any) -> Iterator[Any]:
        if self._iterates or not (self._optimizers or self._begun):
            return iter(iterate(loader))  # a loader within a loader; or nothing trains yet
        if torch.is_grad_enabled():
            self._begin()
        if not self._is_watching():
            return iter(iterate(loader))
        return self._batches(iterate, loader)

    def _batches(self, iterate: Any, loader: Any) -> Iterator[Any]:
        monitor = self._monitor
        is_trained = torch.is_grad_enabled() and monitor.watched.training
        if is_trained:
            yield from monitor.data(_Inner(self, iterate, loader))
            return
        with monitor.phase("evaluation"):
            yield from monitor.data(_Inner(self, iterate, loader))

    def _loss_is_computed(self, compute: Any, *args: Any, **kwargs: Any) -> Any:
        loss = compute(*args, **kwargs)
        # within a model's call its output tells what the loss was computed from
        if self._is_watching() and self._monitor.now != "forward" and loss.dim() == 0:
            given = dict(zip(("input", "target"), args, strict=False)) | kwargs
            self._computed = given["input"], given["target"], loss
            if self._monitor.now == "evaluation":
                self._monitor.loss(*self._computed)
        return loss

    def _backward_is_called(self, backward: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        if self._is_watching() and not self._monitor.hears_losses:
            logits, labels, computed = self._computed or (None, None, None)
            if computed is not loss:
                logits = labels = None
            self._monitor.loss(logits, labels, loss)
        self._computed = None
        return backward(loss, *args, **kwargs)


class _Inner:
    """A loader as it was, within which others are no loaders of the loop."""

    def __init__(self, attached: _Attached, iterate: Any, loader: Any) -> None:
        self._attached, self._iterate, self._loader = attached, iterate, loader

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self._within(self._iterate, self._loader))
        while True:
            try:
                batch = self._within(next, batches)
            except StopIteration:
                return
            yield batch
            del batch

    def _within(self, function: Any, *args: Any) -> Any:
        before, self._attached._iterates = self._attached._iterates, True
        try:
            return function(*args)
        finally:
            self._attached._iterates = before


class _Imported(importlib.abc.MetaPathFinder):
    """Calls a function with each of some modules when it has been imported."""

    def __init__(self, later: dict[str, Callable[[ModuleType], None]]) -> None:
        self._later = later

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """The module's own, whose loader tells when it is there."""
        told = self._later.pop(name, None)
        spec = None if told is None else find_spec(name)
        if told is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            told(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def _held_by(optimizers: list[Any]) -> set[int]:
    groups = (group for optimizer in optimizers for group in optimizer.param_groups)
    return {id(each) for group in groups for each in group["params"]}


def _trained(optimizers: list[Any]) -> Any:
    """The module that holds most of what optimizers train; of several the outermost one."""
    held = _held_by(optimizers)
    # the type is asked, as some objects make up their class
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    best, most = None, (0, 0)
    for module in modules:
        is_called = type(module).forward is not torch.nn.Module.forward
        # a list of modules is never called; a compiled model has its function for itself alone
        if not is_called and "forward" not in vars(module):
            continue
        parts = list(module.modules())
        shared = sum(id(each) in held for each in module.parameters())
        if (shared, len(parts)) > most and shared:
            best, most = module, (shared, len(parts))
    return best


if __name__ == "__main__":
    run(sys.argv[1:])
