# ---- PyTorch ----

@_functools.lru_cache(maxsize=None)
def _torch():
    """torch, and what each call is: a function whose gradient is a function, whose gradient is the last one that there is."""
    try:
        import torch as t
    except ImportError as e:
        raise ImportError("functions for PyTorch need the package torch, which is not installed") from e

    def numbers(values):
        return [v.detach().numpy() if isinstance(v, t.Tensor) else v for v in values]

    def tensors(arrays):
        return [None if a is None else t.from_numpy(_np.asarray(a)) for a in arrays]

    def keep(ctx, values):
        """Tensors where PyTorch sees whether they change; the rest as it is."""
        ctx.save_for_backward(*(v for v in values if isinstance(v, t.Tensor)))
        ctx.rest = [None if isinstance(v, t.Tensor) else (v,) for v in values]

    def kept(ctx):
        saved = iter(ctx.saved_tensors)
        return [next(saved) if v is None else v[0] for v in ctx.rest]

    class Apply(t.autograd.Function):
        @staticmethod
        def forward(ctx, call, *values):
            outs, ctx.state = call.run(numbers(values), any(ctx.needs_input_grad))
            outs = tensors(outs)
            ctx.call, ctx.count = call, len(values)
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*(o for o in outs if not o.is_floating_point()))
            keep(ctx, (*values, *(o if call.compares else None for o in outs)))
            return tuple(outs)

        @staticmethod
        def backward(ctx, *seeds):
            if all(s is None for s in seeds):
                return (None,) * (1 + ctx.count)
            values = kept(ctx)
            outs = [o if o is None else o.detach() for o in values[ctx.count:]]
            found = Pull.apply(ctx.call, ctx.state, ctx.count, *values[:ctx.count], *outs, *seeds)
            return (None, *(g if wanted else None for g, wanted in zip(found, ctx.needs_input_grad[1:])))

    class Pull(t.autograd.Function):
        @staticmethod
        def forward(ctx, call, state, count, *rest):
            ctx.call, ctx.count, ctx.ends = call, count, count + (len(rest) - count) // 2
            ctx.set_materialize_grads(False)
            keep(ctx, rest)
            values = numbers(rest)
            return tuple(tensors(call.pull(values[:count], values[count:ctx.ends], values[ctx.ends:], state)))

        @staticmethod
        def backward(ctx, *duals):
            values = kept(ctx)
            found = Twice.apply(ctx.call, ctx.count, ctx.ends, *values, *duals)
            wanted = ctx.needs_input_grad[3:]
            of_inputs, of_seeds = found[:ctx.count], found[ctx.count:]
            none = (None,) * (ctx.ends - ctx.count)  # what a launch gave depends on its inputs, by which twice has it
            return (None, None, None, *(g if w else None for g, w in zip((*of_inputs, *none, *of_seeds), wanted)))

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, call, count, ends, *rest):
            ctx.name = call.name
            values, n = numbers(rest), 2 * ends - count
            inputs, outs, seeds, duals = values[:count], values[count:ends], values[ends:n], values[n:]
            along, of_seeds = call.twice(inputs, outs, seeds, duals)
            return tuple(tensors([*along, *(g if s is not None else None for g, s in zip(of_seeds, seeds))]))

        @staticmethod
        def backward(ctx, *_):
            raise RuntimeError(f"{ctx.name} has no third derivative here")

    return t, Apply


def _without_tensors(t, name, x):
    """Derivatives do not go through lists and structs of tensors, so there are none."""
    if isinstance(x, t.Tensor):
        raise TypeError(f"{name}: one tensor is wanted, or numbers: tensors in a list (torch.stack) or in a struct would lose their gradients")
    if isinstance(x, (list, tuple, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            _without_tensors(t, name, part)
    elif isinstance(x, _np.ndarray) and x.dtype.hasobject:
        raise TypeError(f"{name}: an array of numbers is wanted")
    return x


def _as_tensor_argument(t, call, k, x):
    name, dtype = call.names[k], call.dtype_of(k)
    if dtype is None or not isinstance(x, t.Tensor):
        if dtype is not None and isinstance(x, _np.ndarray) and x.ndim:
            raise TypeError(f"{name}: a tensor is wanted, not a NumPy array (torch.from_numpy)")
        return _without_tensors(t, name, x)
    if x.device.type != "cpu":
        raise TypeError(f"{name}: the tensor is on {x.device}, and kernels run on the CPU: move it there (.cpu())")
    if x.requires_grad and not call.gradient_of(k):
        raise TypeError(f"{name}: the tensor requires a gradient, which there is none of; give it detached (.detach())")
    if x.layout is not t.strided:
        raise TypeError(f"{name}: a dense tensor is wanted")
    try:
        seen = x.detach().numpy()
    except RuntimeError as e:
        raise TypeError(f"{name}: the tensor has no memory, as in torch.func and vmap, which cannot call kernels (a loop over samples can)") from e
    if seen.dtype != dtype:
        raise TypeError(f"{name}: a tensor of {_type_name(dtype)} is wanted, not {_type_name(seen.dtype)}")
    if not x.is_contiguous():
        raise ValueError(f"{name}: the tensor must be contiguous (.contiguous())")
    return x


def _apply_tensors(call, values):
    t, apply = _torch()
    values = [_as_tensor_argument(t, call, k, x) for k, x in enumerate(values)]
    if not t.is_grad_enabled():
        values = [v.detach() if isinstance(v, t.Tensor) else v for v in values]  # so nobody computes gradients
    outs = apply.apply(call, *values)
    return outs[0] if len(outs) == 1 else outs or None


def _not_compiled(function):
    """torch.compile calls the function, and does not look inside."""
    t, _ = _torch()
    return t.compiler.disable(function) if hasattr(t, "compiler") else function


class _Torch(_Functions):
    """Export funcs, and kernels without fields, as functions of tensors that autograd differentiates."""
    _framework = "PyTorch"

    def _make(self, f):
        _torch()
        signature = f.signature()

        def function(*args, **named):
            given = list(signature.bind(*args, **named).arguments.values())
            module = given.pop(0) if f.kernel else None
            values, extents = given[:len(f.inputs)], given[len(f.inputs):]
            call = _Call(f, module, dict(zip(list(signature.parameters)[-len(extents):] if extents else (), extents)))
            return _apply_tensors(call, values)

        return _not_compiled(function)
