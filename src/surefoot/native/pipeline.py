"""Numba's compiler without what kernels do not need, so that the first use of a controller takes seconds.

Left to itself, it optimizes every kernel with all that it calls and makes machine code of it, and then again for each
of its callers, up to the law, which is the only one that runs. Here a kernel ends as a library of its own code alone,
which knows the libraries it needs; the law links all of them once. Passes that look for closures, comprehensions,
array expressions and literals are left out, and the type of an operation on numbers is found out only once.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, GenericRewrites, ReconstructSSA, TranslateByteCode

from surefoot.native.compiling import announce


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code of one kernel, to be linked into a law, and the libraries that have to be linked with it."""

    def finalize(self) -> None:
        """Do nothing: whoever links it optimizes it."""
        self._raise_if_finalized()
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        """Leave that, too, to whoever links it."""
        module.data_layout = self._codegen._data_layout

    def needs(self) -> list[Any]:
        """This library and all that it calls, directly or not, each once."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


class _Memory:
    """A typing context that remembers what operations on numbers return; it leaves all else to Numba's."""

    _known: dict[Any, Any] = {}  # noqa: RUF012

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """The signature of a call; a kernel is compiled for integers, not anew for each literal one."""
        if isinstance(function, types.Dispatcher):
            args = tuple(types.unliteral(kind) for kind in args)  # type: ignore[attr-defined]
        if kws or not isinstance(function, types.Function) or any(isinstance(kind, types.Callable) for kind in args):
            return self._context.resolve_function_type(function, args, kws)
        key = function, tuple(args)
        if key not in self._known:
            self._known[key] = self._context.resolve_function_type(function, args, kws)
        return self._known[key]


class _Lower(Lower):  # type: ignore[misc]
    """Numba's lowering, but that the types of an operation on numbers are not found out a second time."""

    def setup_function(self, description: Any) -> None:
        """Declare the function; one that is to be inlined is so where that pays, not wherever it is called."""
        super().setup_function(description)
        if "alwaysinline" in self.function.attributes:
            self.function.attributes.discard("alwaysinline")
            self.function.attributes.add("inlinehint")

    def lower_binop(self, result: Any, expression: Any, operation: Any) -> Any:
        """Emit an operation of two operands."""
        signature, context = self.fndesc.calltypes[expression], self.context
        numbers = all(isinstance(kind, types.Number | types.Boolean) for kind in signature.args)
        if not numbers or operation in (operator.pow, operator.ipow):  # powers have implementations of their own
            return super().lower_binop(result, expression, operation)
        operands = [
            context.cast(self.builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side, kind in zip((expression.lhs, expression.rhs), signature.args, strict=True)
        ]
        operator_type = context.typing_context.resolve_value_type(operation)
        try:
            function = context.get_function(operator_type, signature)
        except KeyError:  # a registry was loaded since the types were found: this type has not seen the operands yet
            operator_type.get_call_type(context.typing_context, signature.args, {})
            function = context.get_function(operator_type, signature)
        return context.cast(self.builder, function(self.builder, operands), signature.return_type, result)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    _name = "surefoot_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower


@register_pass(mutates_CFG=False, analysis_only=False)
class _Offer(LoweringPass):  # type: ignore[misc]
    """Let kernels that are compiled later call this one, which has no address."""

    _name = "surefoot_offer"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Enter its library among those that can be called."""
        stand_in = list[Any]().index  # callers look it up by a builtin function; from Python, this one raises an error
        lowered = state["cr"]
        state.targetctx.insert_user_function(stand_in, lowered.fndesc, state.library.needs())
        state["cr"] = lowered._replace(cfunc=stand_in)
        return True


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """The compiler of kernels: it stops before machine code."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        announce()
        self.state.flags.no_compile = True
        self.state.library = _Part(self.state.targetctx.codegen(), "kernel")
        self.state.typingctx = _Memory(self.state.typingctx)

    def define_pipelines(self) -> list[Any]:
        """The passes of Numba's own pipeline that kernels need, and ours."""
        passes = PassManager("surefoot")
        steps = [TranslateByteCode, FixupArgs, GenericRewrites, ReconstructSSA, NopythonTypeInference]
        steps += [PreLowerStripPhis]
        if self.state.flags.nrt:  # it says where variables end, which matters only to counted references
            steps += [IRLegalization]
        for step in (*steps, _Lowering, _Offer, NoPythonBackend):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]
