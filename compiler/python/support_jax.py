# ---- JAX ----

@_functools.lru_cache(maxsize=None)
def _jax():
    try:
        import jax
    except ImportError as e:
        raise ImportError("functions for JAX need the package jax, which is not installed") from e
    return jax


def _callback(jax, function, shapes, *values):
    """vmap: one call for each sample."""
    return jax.pure_callback(function, shapes, *values, vmap_method="sequential")


def _jax_apply(call, shapes_of):
    """call as a function of arrays with a custom_vjp, whose pull-back has one as well. shapes_of: of the results, by those of values."""
    jax, jnp = _jax(), _jax().numpy

    def dense(x):
        return jnp.zeros(x.shape, x.dtype) if isinstance(x, jax.custom_derivatives.SymbolicZero) else x

    def arrays(values):
        """JAX may give a number for an array that was one."""
        return tuple(v if hasattr(v, "shape") or v is None else jnp.asarray(v, getattr(v, "dtype", None)) for v in values)

    def is_float(x):
        return jnp.issubdtype(x.dtype, jnp.floating)

    def numbers(values):
        return [_np.ascontiguousarray(v).reshape(_np.shape(v)) for v in values]

    def run(*values):
        return tuple(call.run(numbers(values))[0])

    @jax.custom_vjp
    def apply(*values):
        values = arrays(values)
        return _callback(jax, run, shapes_of(values), *values)

    def forward(*primals):
        values = arrays(p.value for p in primals)
        for k, p in enumerate(primals):
            if p.perturbed and not call.gradient_of(k) and is_float(values[k]):
                raise TypeError(f"{call.names[k]}: a gradient is asked for, which there is none of (jax.lax.stop_gradient)")
        outs = apply(*values)
        return outs, (values, outs)

    def backward(kept, seeds):
        values, outs = map(arrays, kept)
        seeds = tuple(dense(s) if is_float(o) else None for s, o in zip(seeds, outs))
        found = iter(pull(values, outs, seeds))
        return tuple(next(found) if call.gradient_of(k) else None for k in range(len(values)))

    apply.defvjp(forward, backward, symbolic_zeros=True)

    def like(x):
        return jax.ShapeDtypeStruct(x.shape, x.dtype)

    def unpack(flat, count, outs):
        flat = iter(numbers(flat))
        values = [next(flat) for _ in range(count)]
        before = [next(flat) for _ in outs]
        return values, before, [next(flat) if o else None for o in outs]

    @jax.custom_vjp
    def pull(values, outs, seeds):
        values, outs, seeds = arrays(values), arrays(outs), arrays(seeds)
        floats = [s is not None for s in seeds]

        def host(*flat):
            return tuple(g for g in call.pull(*unpack(flat, len(values), floats), None) if g is not None)

        shapes = tuple(like(v) for k, v in enumerate(values) if call.gradient_of(k))
        return _callback(jax, host, shapes, *values, *outs, *(s for s in seeds if s is not None))

    def pull_forward(values, outs, seeds):
        if not call.has_second():
            call.twice((), (), (), ())  # raises
        return pull(values, outs, seeds), (values, outs, seeds)

    def pull_backward(kept, duals):
        values, outs, seeds = map(arrays, kept)
        floats = [s is not None for s in seeds]
        at = [k for k in range(len(values)) if call.gradient_of(k)]

        def host(*flat):
            along = dict(zip(at, numbers(flat[:len(at)])))
            v, o, s = unpack(flat[len(at):], len(values), floats)
            first, second = call.twice(v, o, s, [along.get(k) for k in range(len(v))])
            return (*(first[k] for k in at), *(g for g, is_one in zip(second, floats) if is_one))

        given = [s for s in seeds if s is not None]
        r = iter(_callback(jax, host, (*(like(values[k]) for k in at), *map(like, given)), *arrays(duals), *values, *outs, *given))
        by_input = tuple(next(r) if k in at else None for k in range(len(values)))
        return by_input, tuple(None for _ in outs), tuple(next(r) if s is not None else None for s in seeds)

    pull.defvjp(pull_forward, pull_backward)
    return apply


def _as_jax_argument(jax, name, dtype, shape, x):
    """shape: None for any, which the function itself checks."""
    if dtype.itemsize == 8 and not jax.config.jax_enable_x64:
        raise TypeError(f"{name} is {dtype}, which JAX has with jax.config.update('jax_enable_x64', True) alone")
    if isinstance(x, (bool, int, float)):
        x = {"f": _as_real, "b": _as_bool}.get(dtype.kind, _integer(dtype) if dtype.kind in "iu" else None)(x, name)
        x = jax.numpy.asarray(x, dtype)
    elif not hasattr(x, "dtype"):
        x = jax.numpy.asarray(_fitting(x, dtype, name), dtype)
    if x.dtype != dtype:
        raise TypeError(f"{name}: an array of {_type_name(dtype)} is wanted, not {x.dtype}")
    if shape is not None and x.shape != shape:
        raise ValueError(f"{name} has the shape {shape}, not {x.shape}")
    return x


class _JaxCall(_Call):
    """Structs stand in it; the rest are arrays of JAX."""

    def __init__(self, function, module, extents, structs):
        super().__init__(function, module, extents)
        self.structs = structs
        self.arrays = [k for k in range(len(function.inputs)) if k not in structs]
        self.names = [function.items[function.inputs[k]].name for k in self.arrays]

    def _whole(self, values):
        """Numbers as numbers, and structs in their places."""
        values, items = iter(values), [self.f.items[i] for i in self.f.inputs]
        r = []
        for k, item in enumerate(items):
            v = self.structs[k][()] if k in self.structs else next(values)
            r.append(v.item() if k not in self.structs and item.kind == "value" and item.shape == () else v)
        return r

    def extents_of_arguments(self, values):
        """By the first array that has one; what does not fit is found by the shapes."""
        known = dict(self.extents)
        for i, x in zip(self.f.inputs, values):
            for d, n in zip(self.dims(i) or (), _np.shape(x)):
                if isinstance(d, str):
                    known.setdefault(d, n)
        for i, x in zip(self.f.inputs, values):
            missing = [d for d in self.dims(i) or () if isinstance(d, str) and d not in known]
            if missing:
                raise ValueError(f"{self.f.items[i].name}: an array of {len(self.dims(i)) + len(self.f.items[i].shape)} dimensions is wanted")
        return known

    def run(self, values, differentiated=False):
        return super().run(self._whole(values))

    def _only(self, found):
        return [found[k] for k in self.arrays]

    def pull(self, values, outs, seeds, kept):
        return self._only(super().pull(self._whole(values), outs, seeds, kept))

    def twice(self, values, outs, seeds, duals):
        if not self.has_second():
            raise RuntimeError(_no_second(self.f.name))
        by_place = dict(zip(self.arrays, duals))
        first, second = super().twice(self._whole(values), outs, seeds, [by_place.get(k) for k in range(len(self.f.inputs))])
        return self._only(first), second

    def gradient_of(self, n):
        return super().gradient_of(self.arrays[n])


class _Jax(_Functions):
    """Export funcs, and kernels without fields, as functions of JAX's arrays, with derivatives: jit, grad, vmap."""
    _framework = "JAX"

    def _make(self, f):
        jax, signature, made = _jax(), f.signature(), {}

        def build(module, extents, structs):
            call = _JaxCall(f, module, extents, structs)

            def shapes_of(values):
                known = call.extents_of([() if k in structs else values[call.arrays.index(k)].shape for k in range(len(f.inputs))])
                return tuple(jax.ShapeDtypeStruct(call.shape_of(i, known), f.items[i].dtype) for i in f.outputs)

            return call, _jax_apply(call, shapes_of)

        def function(*args, **named):
            given = list(signature.bind(*args, **named).arguments.values())
            module = given.pop(0) if f.kernel else None
            values, extents = given[:len(f.inputs)], given[len(f.inputs):]
            extents = dict(zip(list(signature.parameters)[-len(extents):] if extents else (), map(_operator.index, extents)))
            structs = {}
            for k, i in enumerate(f.inputs):
                if f.items[i].kind == "struct":
                    structs[k] = _np.zeros((), f.items[i].dtype)
                    _store(structs[k], (), values[k], f.items[i].name)
            place = made if module is None else module.__dict__.setdefault("_jax", {})
            key = (f.name, tuple(extents.items()), tuple(s.tobytes() for s in structs.values()), module and bytes(module._h.check().params))
            if key not in place:
                place[key] = build(module, extents, structs)
            call, apply = place[key]
            known = call.extents_of_arguments(values)
            outs = apply(*(_as_jax_argument(jax, call.names[n], f.items[f.inputs[k]].dtype, call.shape_of(f.inputs[k], known), values[k])
                           for n, k in enumerate(call.arrays)))
            for i in f.outputs:
                if f.items[i].dtype.itemsize == 8 and not jax.config.jax_enable_x64:
                    raise TypeError(f"{f.items[i].name} is {f.items[i].dtype}, which JAX has with jax_enable_x64 alone")
            return outs[0] if len(outs) == 1 else outs or None

        return function
