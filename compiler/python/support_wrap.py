import functools as _functools
import inspect as _inspect
import threading as _threading

_Item = _collections.namedtuple("_Item", "name kind dtype dims shape")  # kind: in, inout, out, value, struct, result
_DATA, _GRAD, _DUAL, _GRAD_DUAL = range(4)


class _Unknown:
    """In place of a module: its params, which are not known, and no names of extents."""

    def __getattr__(self, name):
        return self


_UNKNOWN = _Unknown()


class _Function:
    """An export func, or a kernel of arrays and numbers alone, as a function whose results are all new.

    calls: of each form (run, grad, jvp, hvp) what the function of Python takes and gives: name, item, plane, and a or r or both."""

    def __init__(self, name, kernel, forms, items, calls, why=None):
        self.name, self.kernel, self.forms, self.items, self.calls, self.why = name, kernel, forms, items, calls, why
        self.inputs = [i for i, x in enumerate(items) if x.kind in ("in", "inout", "value", "struct")]
        self.outputs = [i for i, x in enumerate(items) if x.kind in ("inout", "out", "result")]

    @property
    def doc(self):
        made = "made as a copy of what is given: " + ", ".join(x.name for x in self.items if x.kind == "inout")
        return ((_kernel_doc(self.kernel) if self.kernel else self.forms["run"].__doc__)
                + (f"\n\nResults that are {made}." if not made.endswith(": ") else ""))

    def signature(self):
        kinds = _inspect.Parameter
        told = {d for i in self.inputs if self.items[i].dims for d in self.items[i].dims(_UNKNOWN) if isinstance(d, str)}
        wanted = {d: None for i in self.outputs if self.items[i].dims for d in self.items[i].dims(_UNKNOWN) if isinstance(d, str)}
        names = [kinds("module", kinds.POSITIONAL_ONLY)] if self.kernel and "module" not in (self.items[i].name for i in self.inputs) else []
        names += [kinds("_module", kinds.POSITIONAL_ONLY)] if self.kernel and not names else []
        names += [kinds(self.items[i].name, kinds.POSITIONAL_OR_KEYWORD) for i in self.inputs]
        names += [kinds(d, kinds.KEYWORD_ONLY) for d in wanted if d not in told]
        return _inspect.Signature(names)

    def differentiable(self, i):
        """Whether there is a gradient with respect to item i."""
        return self.items[i].kind != "struct" and any((i, _GRAD) == (k, plane) and "r" in how for _, k, plane, how in self.calls.get("grad", ()))

    def call(self, form, module, given):
        """given, and what is returned: values by item and plane."""
        f = self.forms[form] if not self.kernel else getattr(module, self.kernel)
        f = f if not self.kernel or form == "run" else getattr(f, form)
        r = f(**{name: given[i, plane] for name, i, plane, how in self.calls[form] if "a" in how and (i, plane) in given})
        places = [(i, plane) for _, i, plane, how in self.calls[form] if "r" in how]
        return dict(zip(places, (r,) if len(places) == 1 else r or ()))


class _Call:
    """A function with what is no array of the framework: the module, extents, structs."""
    compares = False  # whether pull wants to see what the call gave

    def __init__(self, function, module, extents):
        if function.kernel and not isinstance(module, Module):
            raise TypeError(f"{function.name}: its first argument is the module, not {type(module).__name__}")
        self.f, self.module, self.extents = function, module, extents
        self.names, self.name = [function.items[i].name for i in function.inputs], function.name
        self.params = None if module is None else type(module._h.check().params).from_buffer_copy(module._h.params)
        self.lock = _threading.RLock() if module is None else _lock_of(module.session)

    def dims(self, i):
        dims = self.f.items[i].dims
        return None if dims is None else dims(self.module)

    def extents_of(self, shapes):
        """From the shapes of the inputs, which the functions themselves check."""
        known = dict(self.extents)
        for i, shape in zip(self.f.inputs, shapes):
            known.update((d, n) for d, n in zip(self.dims(i) or (), shape) if isinstance(d, str))
        return known

    def shape_of(self, i, known):
        dims = self.dims(i) or ()
        for d in dims:
            if isinstance(d, str) and d not in known:
                raise ValueError(f"{self.f.name}: no array of the right number of dimensions tells the extent {d}")
        return (*(known[d] if isinstance(d, str) else d for d in dims), *self.f.items[i].shape)

    def _data(self, values):
        """The data planes; what is changed in place is a copy."""
        items = self.f.items
        given = {(i, _DATA): v.copy() if items[i].kind == "inout" else v for i, v in zip(self.f.inputs, values)}
        known = self.extents_of([_np.shape(v) for v in values])
        for i in self.f.outputs:
            if items[i].kind == "out":
                given[i, _DATA] = _np.zeros(self.shape_of(i, known), items[i].dtype)
        return given

    def _launched(self):
        """An adjoint of a kernel takes params as they are, and of the last launch what that kept."""
        return _Launched(self)

    def run(self, values, differentiated=False):
        """The results, and what pull wants to have kept."""
        with self.lock, self._launched():
            given = self._data(values)
            r = {**given, **self.f.call("run", self.module, given)}
        return [_np.asarray(r[i, _DATA], self.f.items[i].dtype) for i in self.f.outputs], None

    def _seeds(self, seeds, form):
        given = {}
        for i, seed in zip(self.f.outputs, seeds):
            item = self.f.items[i]
            if seed is None and item.kind == "result" and item.shape == () and item.dtype.kind == "f":
                seed = 0.0  # else it would be 1
            if seed is not None and any((k, plane) == (i, _GRAD) for _, k, plane, how in self.f.calls[form] if "a" in how):
                given[i, _GRAD] = _np.array(seed, item.dtype, order="C") if item.dims else seed
        return given

    def _backward(self, form, values, outs, given):
        """What an adjoint reads: of an export func what went in; of a kernel the arrays as the launch left them."""
        with self.lock, self._launched():
            if self.module is None:
                given.update({(i, _DATA): v for i, v in zip(self.f.inputs, values)})
            else:
                again = self._data(values)
                self.f.call("run", self.module, again)
                given.update(again)
            return self.f.call(form, self.module, given)

    def pull(self, values, outs, seeds, kept):
        """The gradients of the inputs, None where there is none."""
        if "grad" not in self.f.forms:
            raise RuntimeError(f"{self.f.name} has no gradient")
        r = self._backward("grad", values, outs, self._seeds(seeds, "grad"))
        return [_np.asarray(r[i, _GRAD], self.f.items[i].dtype) if self.f.differentiable(i) else None for i in self.f.inputs]

    def _tangents(self, values, duals):
        given = self._data(values)
        given.update({(i, _DUAL): _np.array(u, self.f.items[i].dtype, order="C") for i, u in zip(self.f.inputs, duals) if u is not None})
        with self.lock, self._launched():
            return self.f.call("jvp", self.module, given)

    def has_second(self):
        """What the gradient is by, the JVP and the second-order product must be by as well."""
        inputs = {i for i in self.f.inputs if self.f.differentiable(i)}
        return all(inputs <= {i for _, i, plane, _ in self.f.calls.get(form, ()) if plane == _DUAL} and form in self.f.forms for form in ("jvp", "hvp"))

    def twice(self, values, outs, seeds, duals):
        """The derivative of pull along: with duals of the gradients, the gradients of the inputs and those of the seeds."""
        if not self.has_second():
            raise RuntimeError(_no_second(self.f.name))
        along = self._tangents(values, duals)
        given = self._seeds(seeds, "hvp")
        for i, u in zip(self.f.inputs, duals):
            if u is not None:
                given[i, _DUAL] = _np.array(u, self.f.items[i].dtype, order="C")
        if self.module is not None:
            given.update({(i, _DUAL): along[i, _DUAL] for i in self.f.outputs if (i, _DUAL) in along and self.f.items[i].dims})
        r = self._backward("hvp", values, outs, given)
        return ([_np.asarray(r[i, _GRAD_DUAL], self.f.items[i].dtype) if self.f.differentiable(i) else None for i in self.f.inputs],
                [_np.asarray(along[i, _DUAL], self.f.items[i].dtype) if (i, _DUAL) in along else None for i in self.f.outputs])

    def gradient_of(self, k):
        return self.f.differentiable(self.f.inputs[k])

    def dtype_of(self, k):
        """Of input k; None: a struct, which is a constant."""
        item = self.f.items[self.f.inputs[k]]
        return None if item.kind == "struct" else item.dtype


class _Launched:
    def __init__(self, call):
        self._call = call

    def __enter__(self):
        if self._call.module is not None:
            h = self._call.module._h
            self._now = type(h.check().params).from_buffer_copy(h.params)
            self._call.module._take_params(self._call.params)

    def __exit__(self, *_):
        if self._call.module is not None:
            self._call.module._take_params(self._now)


def _no_second(name):
    return f"{name} has no second derivative here: declare it derive(grad, jvp, hvp), all by the same inputs"


def _kernel_doc(name):
    return getattr(Module, name).__doc__


def _lock_of(session):
    return session.__dict__.setdefault("_lock", _threading.RLock())


class _Functions:
    """The functions of the program for one framework; they are made when they are asked for."""

    def __getattr__(self, name):
        f = _functions.get(name)
        if f is None:
            raise AttributeError(f"there is no function {name}")
        if f.why:
            raise AttributeError(f"{name} is no function for {self._framework}: {f.why}")
        made = self._make(f)
        made.__name__ = made.__qualname__ = name
        made.__doc__, made.__signature__ = f.doc, f.signature()
        self.__dict__[name] = made
        return made

    def __dir__(self):
        return [name for name, f in _functions.items() if not f.why] + [n for n in type(self).__dict__ if not n.startswith("_")]
