# ---- fields ----

_PLANES = ("data", "grad", "dual", "grad_dual")
_STORING = {"itemset", "partition", "put", "setfield", "sort"}    # methods of arrays


class _Memory(_Unique):
    """Holds the module object of C: views hold this, so that the object goes with the last of them."""


class _Handle(_Unique):
    """What the module, its fields and its kernels know of the module object of C. pointer: None once it is closed."""
    __slots__ = ("pointer", "memory", "session", "params", "fields", "patterns")

    def fail(self, status):
        if self.pointer is None:
            raise ValueError("the module is closed")
        self.session._check(status)

    def check(self):
        if self.pointer is None:
            raise ValueError("the module is closed")
        return self


def _view(handle, address, dtype, shape, strides):
    """Memory of the module as an array that keeps the module alive."""
    size = dtype.itemsize + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
    memory = (_ct.c_char * size).from_address(address)
    memory._owner = handle.memory
    return _np.ndarray(shape, dtype, memory, 0, strides)


class Field(_np.lib.mixins.NDArrayOperatorsMixin, _Unique):
    """A field of a module: an array without copies.

    data, grad, dual and grad_dual are its memories, NumPy arrays of shape (extents..., components...); those that the field does
    not have are an AttributeError. Indexing, operators, functions of NumPy and the methods of arrays mean data. Assignments to
    elements check type and shape."""

    def __init__(self, handle, spec):
        self._h, self._spec, self._views = handle, spec, {}

    @property
    def _pointer(self):
        return self._h.check().fields[self._spec.number]

    def _pointers(self):
        """Of the fields of numbers that it is."""
        return [self._pointer]

    def _what(self):
        return f"field {self._spec.name}"

    def _plane(self, k):
        array = self._views.get(k)
        if array is None:
            self._h.check()
            if _PLANES[k] not in self._spec.planes:
                raise AttributeError(self._lacks(_PLANES[k]))
            array = self._views[k] = self._array(k)
        return array

    def _lacks(self, name):
        """The message for a memory or attribute that is not there."""
        spec = self._spec
        if name not in _PLANES:
            return f"field {spec.name} has no {name}{_near(name, {*spec.planes, *dir(type(self)), *dir(_np.ndarray), *getattr(spec, 'members', ())})}"
        if not spec.dtype.names and spec.dtype.kind != "f":
            return f"field {spec.name} has no {name}: it holds {spec.dtype}, and floats alone have derivatives"
        if name == "grad_dual":
            return f"field {spec.name} has no grad_dual: that takes needs_grad at the field in the .tk, and a kernel with derive(grad, jvp, hvp)"
        return f"field {spec.name} has no {name}: write needs_{name} at its declaration in the .tk, 'field {spec.name.split('.')[0]}: ... needs_{name};'"

    def _extents(self):
        return tuple(_tk.field_extent(self._pointer, d) for d in range(self._spec.ndim))

    def _array(self, k):
        spec, extents = self._spec, self._extents()
        if k in spec.wide:
            number, directions = spec.wide[k]
            shape = (*extents, *spec.shape, directions)
            return _view(self._h, _tk.field_component(self._h.fields[number], 0, 0), spec.dtype, shape, _row_major(shape, spec.dtype.itemsize))
        size = spec.dtype.itemsize
        between = size * _math.prod(extents) if spec.apart else size
        step = size if spec.apart else spec.step or size * _math.prod(spec.shape)
        strides = _row_major(extents, step) + _row_major(spec.shape, between)
        return _view(self._h, _tk.field_component(self._pointer, k, 0), spec.dtype, extents + spec.shape, strides)

    def __setattr__(self, name, value):
        if not name.startswith("_") and not isinstance(getattr(type(self), name, None), property):
            raise AttributeError(self._lacks(name))
        super().__setattr__(name, value)

    def _set(self, k, value):
        if value is not self and k == 0:
            self[...] = value
        elif value is not self:
            _store(self._plane(k), ..., value, self._spec.name)

    data = property(lambda self: self._plane(0), lambda self, value: self._set(0, value), doc="The values.")
    grad = property(lambda self: self._plane(1), lambda self, value: self._set(1, value), doc="The gradient.")
    dual = property(lambda self: self._plane(2), lambda self, value: self._set(2, value), doc="The tangent.")
    grad_dual = property(lambda self: self._plane(3), lambda self, value: self._set(3, value), doc="The gradient's tangent.")

    def clear_grad(self):
        """Sets the gradient to zero."""
        self._h.session._check(_tk.field_clear_grad(self._pointer))

    def clear_dual(self):
        """Sets the dual to zero."""
        self._h.session._check(_tk.field_clear_dual(self._pointer))

    def _in_memory_order(self, seed):
        spec = self._spec
        if spec.dtype.names:
            raise TypeError(f"{spec.name}: a forward scope is one of a member of the structs")
        a, shape = _fitting(seed, spec.dtype, f"the seed of {spec.name}"), self._extents() + spec.shape + (spec.wide[2][1:] if 2 in spec.wide else ())
        try:
            a = _np.broadcast_to(a, shape)
        except ValueError:
            raise ValueError(f"the seed of {spec.name} has the shape {shape}, not {a.shape}") from None
        if spec.apart and 2 not in spec.wide:
            a = _np.moveaxis(a, range(spec.ndim, a.ndim), range(a.ndim - spec.ndim))
        return _np.ascontiguousarray(a, spec.dtype)

    def _forget(self):
        self._views.clear()

    def __dir__(self):
        absent = [plane for plane in _PLANES if plane not in self._spec.planes]
        absent += [f"clear_{plane}" for plane in absent if plane in ("grad", "dual")]
        return sorted({*super().__dir__(), *(name for name in dir(_np.ndarray) if not name.startswith("_"))} - {*absent})

    def _line(self):
        """For the repr of its module."""
        spec, shape = self._spec, self._extents() + getattr(self._spec, "shape", ())
        dims = f"[{', '.join(map(str, shape))}]" if shape else ""
        members = f" of {', '.join(spec.dtype.names)}" if spec.dtype.names else ""
        return ", ".join([f"{'struct' if members else spec.dtype}{dims}{members}", *(p for p in _PLANES[1:] if p in spec.planes)])

    def __array__(self, dtype=None, copy=None):
        a = self.data if dtype is None else self.data.astype(dtype, copy=False)
        return a.copy() if copy else a

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if out:
            options["out"] = tuple(_bare(a) for a in out)
        fields = [a for a in out if isinstance(a, Field)]

        def apply():
            return getattr(ufunc, method)(*(_bare(a) for a in inputs), **options)

        result = fields[0]._h.session._stores(fields, apply, _linear(ufunc, method, inputs, fields, options)) if fields else apply()
        return out[0] if len(out) == 1 and isinstance(out[0], Field) else result

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _PLANES or not hasattr(_np.ndarray, name):
            raise AttributeError(self._lacks(name))
        found = getattr(self.data, name)
        return self._storing(found) if name in _STORING else found

    def _storing(self, method):
        """A method of arrays that writes data, as a step of tapes."""
        return lambda *arguments, **options: self._h.session._stores([self], lambda: method(*arguments, **options), None)

    def fill(self, value):
        """Sets all elements."""
        self[...] = value

    def _has(self, k):
        return _PLANES[k] in self._spec.planes

    def _parts(self, k):
        """Arrays of the shape of data: plane k, or its directions."""
        plane = self._plane(k)
        return [plane[..., d] for d in range(plane.shape[-1])] if k in getattr(self._spec, "wide", ()) else [plane]

    def _clear(self, k, key):
        """Elements of plane k become zero."""
        for part in self._parts(k) if self._has(k) else ():
            part[key] = 0

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        target = self.data
        cut = None if _is_active(value) else lambda k: self._clear(k, key)
        self._h.session._stores([self], lambda: _store(target, key, value, self._spec.name), cut)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __float__(self):
        return float(self.data)

    def __int__(self):
        return int(self.data)

    def __bool__(self):
        return bool(self.data)

    def __format__(self, spec):
        return format(self.data[()], spec) if spec else str(self)

    def __repr__(self):
        return f"<field {self._spec.name}: {self.data!r}>" if self._h.pointer else f"<field {self._spec.name}, closed>"


def _bare(a):
    return a.data if isinstance(a, Field) else a


def _is_active(a):
    """A field with derivatives."""
    return isinstance(a, Field) and (a._has(1) or a._has(2))


def _linear(ufunc, method, inputs, fields, options):
    """What a function of NumPy in place of a field does to its derivatives: a function of the plane's number. None: it is not known."""
    if method != "__call__" or len(inputs) != 2 or len(fields) != 1 or set(options) != {"out"}:
        return None
    field, at = fields[0], 0 if inputs[0] is fields[0] else 1
    other = inputs[1 - at]
    if inputs[at] is not field or other is field or _is_active(other):
        return None
    if ufunc is _np.add or (ufunc is _np.subtract and at == 0):
        return lambda k: None
    if ufunc is _np.multiply or (ufunc is _np.true_divide and at == 0):
        factor = _np.array(_bare(other))
        return lambda k: [ufunc(part, factor, out=part) for part in field._parts(k)] if field._has(k) else None
    return None


def _row_major(shape, step):
    strides = []
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n
    return tuple(strides)


class _Structs(Field):
    """A field of structs, or a member that is a struct: data is an array of structs, and each member is a field as well.

    With soa the members have arrays of their own alone."""

    def __init__(self, handle, spec):
        super().__init__(handle, spec)
        self.__dict__.update((name, make(handle)) for name, make in spec.members.items())

    @property
    def _pointer(self):
        return self._h.check().fields[self._spec.planes["data"]]

    def _array(self, k):
        spec, extents = self._spec, self._extents()
        address = _tk.field_structs(self._h.fields[spec.planes[_PLANES[k]]], k) + spec.offset
        return _view(self._h, address, spec.dtype, extents, _row_major(extents, spec.step))

    def __setattr__(self, name, value):
        spec = self.__dict__.get("_spec")
        if spec and name in spec.members:
            self.__dict__[name]._set(0, value)
        else:
            super().__setattr__(name, value)

    def _pointers(self):
        return [pointer for name in self._spec.members for pointer in self.__dict__[name]._pointers()]

    def _members_with(self, plane):
        return [m for m in (self.__dict__[name] for name in self._spec.members) if plane in m._spec.planes]

    def _has(self, k):
        return any(self.__dict__[name]._has(k) for name in self._spec.members)

    def _clear(self, k, key):
        if isinstance(key, str):
            self.__dict__[key]._clear(k, ...)
            return
        mask = _np.zeros(self._extents(), bool)
        mask[key] = True
        for name in self._spec.members:
            self.__dict__[name]._clear(k, mask)

    def clear_grad(self):
        """Sets the gradients of all members to zero."""
        for member in self._members_with("grad"):
            member.clear_grad()

    def clear_dual(self):
        """Sets the duals of all members to zero."""
        for member in self._members_with("dual"):
            member.clear_dual()

    def _forget(self):
        super()._forget()
        for name in self._spec.members:
            self.__dict__[name]._forget()


_Spec = _collections.namedtuple("_Spec", "name number dtype ndim shape planes apart step wide")    # wide: by plane, the field in its place and the directions
_StructSpec = _collections.namedtuple("_StructSpec", "name dtype ndim planes offset step members")


class _Slot:
    """A field as an attribute of modules. Assigned to, all its elements are set."""

    def __init__(self, make, doc):
        self._make, self.__doc__ = make, doc

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, module, owner=None):
        if module is None:
            return self
        field = module.__dict__.get(self._name)
        if field is None:
            field = module.__dict__[self._name] = self._make(module._h.check())
        elif module._h.pointer is None:
            module._h.check()
        return field

    def __set__(self, module, value):
        self.__get__(module)._set(0, value)


def _leaf(name, number, dtype, ndim, shape, planes, apart=False, step=None, wide=()):
    spec = _Spec(name, number, dtype, ndim, shape, planes.split(), apart, step, wide)
    return lambda handle: Field(handle, spec)


def _field(doc, *spec, **more):
    return _Slot(_leaf(*spec, **more), doc)


def _inner(name, dtype, ndim, members, offset, step):
    """Members are numbers and planes of fields, or dicts of them; where they lie, the struct knows."""
    makers, planes = {}, {}
    for key, member in members.items():
        kind, at = dtype.fields[key][:2]
        if isinstance(member, dict):
            makers[key] = _inner(f"{name}.{key}", _np.dtype((_np.record, kind)), ndim, member, offset + at, step)
            inner = makers[key].planes
        else:
            makers[key] = _leaf(f"{name}.{key}", member[0], kind.base, ndim, kind.shape, member[1], step=step)
            inner = dict.fromkeys(member[1].split(), member[0])
        planes = {**inner, **planes}
    spec = _StructSpec(name, dtype, ndim, planes, offset, step, makers)

    def make(handle):
        return _Structs(handle, spec)

    make.planes = planes
    return make


def _structs(doc, name, dtype, ndim, members):
    return _Slot(_inner(name, dtype, ndim, members, 0, dtype.itemsize), doc)


class _Group(_Unique):
    """A field of structs with soa: its members are fields."""

    def __init__(self, handle, name, members):
        self.__dict__.update({"_h": handle, "_name": name}, **{key: make(handle) for key, make in members.items()})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        members = [key for key in self.__dict__ if not key.startswith("_")]
        if name in _PLANES:
            raise AttributeError(f"{self._name} is soa: its members have a {name} each, {self._name}.{members[0]}.{name}")
        raise AttributeError(f"{self._name} has no member {name}{_near(name, members)}")

    def __setattr__(self, name, value):
        if name not in self.__dict__:
            self.__getattr__(name)
        self.__dict__[name]._set(0, value)

    def _what(self):
        return f"field {self._name}"

    def __repr__(self):
        return f"<field {self._name}: soa, members {', '.join(key for key in self.__dict__ if not key.startswith('_'))}>"

    def _line(self):
        return f"struct, soa, of {', '.join(f'{key}: {x._line()}' if isinstance(x, Field) else key for key, x in self.__dict__.items() if not key.startswith('_'))}"

    def _set(self, k, value):
        if value is not self:
            raise TypeError(f"{self._name} is soa: its members are set one by one")

    def _forget(self):
        for member in self.__dict__.values():
            if isinstance(member, (Field, _Group)):
                member._forget()


def _group(name, **members):
    return lambda handle: _Group(handle, name, members)


def _apart_structs(doc, name, **members):
    return _Slot(_group(name, **members), doc)


# ---- kernels and modules ----

class _Kernel(_Unique):
    """Calling it launches the kernel; grad, jvp and hvp, where they exist, are its derivatives called directly."""
    __slots__ = ("_h",)

    def __init__(self, handle):
        self._h = handle

    def _what(self):
        return f"kernel {type(self).__name__[len('_kernel_'):]}"

    def __repr__(self):
        return f"<{self._what()}{'' if self._h.pointer else ', closed'}>"

    def __getattr__(self, name):
        kernel = type(self).__name__[len("_kernel_"):]
        if name in _derive_forms:
            raise AttributeError(_no_form("kernel", kernel, name, "field"))
        raise AttributeError(f"kernel {kernel} has no {name}{_near(name, dir(type(self)))}")


class _Launch:
    """A kernel as an attribute of modules."""

    def __init__(self, kernel):
        self._kernel, self.__doc__ = kernel, kernel.__doc__
        for form, function in vars(kernel).items():     # what Python says of wrong arguments begins with these names
            if isinstance(function, _types.FunctionType):
                function.__qualname__ = kernel.__name__[len("_kernel_"):] + ("" if form == "__call__" else "." + form)

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, module, owner=None):
        if module is None:
            return self._kernel
        kernel = module.__dict__[self._name] = self._kernel(module._h)
        return kernel


def _no_param(name, also=()):
    known = f"the params are {', '.join(_param_kinds)}" if _param_kinds else "the .tk has no params"
    return f"there is no param {name}{_near(name, [*_param_kinds, *also])}; {known}"


class _ParamsView(_Unique):
    """The params of a module. Those that size fields cannot be changed."""

    def __init__(self, handle):
        self.__dict__["_h"] = handle

    def __getattr__(self, name):
        if name not in _param_kinds:
            raise AttributeError(_no_param(name))
        return getattr(self._h.check().params, name)

    def __setattr__(self, name, value):
        if name not in _param_kinds:
            raise AttributeError(_no_param(name))
        new = _Params.from_buffer_copy(self._h.check().params)
        setattr(new, name, _param_kinds[name](value, f"param {name}"))
        self._h.session._check(_set_params(self._h.pointer, _ct.byref(new)))
        self._h.params = new

    def _what(self):
        return "the params"

    def __dir__(self):
        return list(_param_kinds)

    def __repr__(self):
        return f"params({', '.join(f'{name}={getattr(self, name)!r}' for name in _param_kinds)})"


class _Module(_Unique):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _param_kinds:
            raise AttributeError(f"{name} is a param: m.params.{name}")
        raise AttributeError(f"the module has no field or kernel {name}{_near(name, dir(type(self)))}")

    def __setattr__(self, name, value):
        mine = getattr(type(self), name, None)
        if isinstance(mine, type) or (mine is None and type(self).__module__ == __name__ and not name.startswith("_")):
            if name in _param_kinds:
                raise AttributeError(f"{name} is a param: m.params.{name}")
            raise AttributeError(f"the module has no field {name} to set{_near(name, [f for f, x in vars(type(self)).items() if isinstance(x, _Slot)])}")
        super().__setattr__(name, value)

    def __repr__(self):
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        if self.closed:
            return f"<{name}, closed>"
        slots = {key: x for key, x in vars(type(self)).items() if isinstance(x, (_Slot, _Launch))}
        lines = [f"{key}: {x.__get__(self)._line()}" for key, x in slots.items() if isinstance(x, _Slot)]
        kernels = ", ".join(key for key, x in slots.items() if isinstance(x, _Launch))
        return "\n  ".join([f"<{name}{repr(self.params)[len('params'):]}", *lines, *([f"kernels: {kernels}"] if kernels else [])]) + ">"

    def _open(self, session, options, **params):
        for name in options:
            if name not in _session_options:
                raise TypeError(f"{_no_param(name, _session_options)}; options of the session: {', '.join(_session_options)}")
        if session is not None and options:
            raise TypeError("with session=..., the options are the session's: " + ", ".join(options))
        if not (session is None or hasattr(session, "_sweep")):
            raise TypeError(f"session is a Session, not {_short(session)}")
        h = self._h = _Handle()
        h.pointer, h.patterns = None, {}
        h.session = Session(**options) if session is None else session
        h.session._sweep()
        h.params = _Params(**{name: _param_kinds[name](value, f"param {name}") for name, value in params.items()})
        pointer = _create(h.session._pointer, _ct.byref(h.params), *_made_for)
        if not pointer:
            raise _creation_error()
        h.pointer, h.memory, h.fields = pointer, _Memory(), []
        _weakref.finalize(h.memory, _destroy_with, pointer, h.session).atexit = False
        field = None
        for _ in range(_field_count):
            field = _tk.field_next(h.session._pointer, field)
            h.fields.append(field)

    def close(self):
        """Gives the module up: its memory goes with the last view of it. A second call does nothing."""
        for field in self.__dict__.values():
            if isinstance(field, (Field, _Group)):
                field._forget()
        self._h.pointer = self._h.memory = None
        self._h.patterns.clear()

    @property
    def closed(self):
        return self._h.pointer is None

    def __enter__(self):
        self._h.check()
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    @property
    def session(self):
        """The session, to make other modules with it."""
        return self._h.session

    @property
    def params(self):
        """The params; those that size no field can be assigned to."""
        return _ParamsView(self._h.check())

    def clear_grad(self):
        """Sets the gradients of all fields to zero."""
        self._h.session._check(_tk.module_clear_grad(self._h.check().pointer))

    def clear_dual(self):
        """Sets the duals of all fields to zero."""
        self._h.session._check(_tk.module_clear_dual(self._h.check().pointer))

    def tape(self, loss, sum=False, continued=False, validate=False, gradient=1.0, budget=0, files=None):
        """`with m.tape(m.loss): ...` sets the loss to 0, records the launches of the block, and at its end runs their adjoints.

        sum: the gradients that are there are added to; continued: they are those of the state that this tape leaves; validate:
        finds data that change although an adjoint needs them, in code built with --debug; gradient: of the loss; budget: bytes
        that the tape may hold, beyond which launches run again (session.tape_report has how many), 0: no limit; files: a
        directory and a number of bytes, for a file with data beyond the budget. A block that is left by an exception runs no
        adjoint."""
        self._mine(loss)
        return _Tape(loss, 4 * _as_bool(sum, "sum") + 8 * _as_bool(continued, "continued") + 2 * _as_bool(validate, "validate"),
                     _as_real(gradient, "gradient"), _as_u64(budget, "budget"), _as_files(files))

    def forward(self, field, seed=None, outputs=()):
        """`with m.forward(m.w, seed, [m.loss]): ...` clears all duals, sets m.w.dual to the seed (a field of one number: 1), and
        carries duals along with the launches of the block. outputs: fields whose duals are wanted."""
        outputs = (outputs,) if hasattr(outputs, "_h") else tuple(outputs)
        self._mine(field, *outputs)
        return _Forward(field, seed, outputs)

    def gradcheck(self, loss, program, inputs=None, tolerance=0.0, directions=0, seed=0, progress=False):
        """Compares the derivatives of the loss by the inputs (None: all fields that have a gradient) by reverse mode, by forward
        mode where the fields have duals, and by differences. program(): launches, the same in each call; what it raises ends the
        check. tolerance: 0 for the usual one. directions: 0 for each component of the inputs, else the number of random directions
        through all inputs, which seed decides. progress: True for a line on stderr, or a function progress(done, of).
        Error.WrongGradient names the worst number, Error.Undecided says that differences tell nothing; else what was found is
        returned."""
        inputs = (inputs,) if hasattr(inputs, "_h") else inputs
        self._mine(loss, *inputs or ())
        session, found = self._h.session, _GradcheckResult()
        pointers = None if inputs is None else (_P * len(inputs))(*(f._pointer for f in inputs))
        shown = session._host(session._until_raised(_show_progress if progress is True else progress), _ProgressFunction) if progress else _ProgressFunction()
        options = _GradcheckOptions(_ct.cast(pointers, _P), len(inputs or ()), _as_real(tolerance, "tolerance"), _as_i32(directions, "directions"), _as_u64(seed, "seed"), shown)
        status = _tk.gradcheck_with(loss._pointer, _ct.byref(options), session._host(session._until_raised(program)), None, _ct.byref(found))
        session._check(status or (session._raised and _BAD_STATE))
        return _Gradcheck(*(getattr(found, name) for name in _Gradcheck._fields))

    def _take_params(self, params):
        self._h.session._check(_set_params(self._h.check().pointer, _ct.byref(params)))
        self._h.params = params

    def _mine(self, *fields):
        session = self._h.check().session
        for field in fields:
            if not hasattr(field, "_h"):
                raise TypeError(f"a field is wanted, not {field!r}")
            if field._h.check().session is not session:
                raise ValueError(f"field {field._spec.name} is one of another session")


def _destroy_with(pointer, session):
    """The session is there until its modules are gone. Python collects at any time, in a kernel's print as well: then later."""
    session._gone.append((_destroy, pointer))
    session._sweep()


_tk = _bind_library()
Error = _make_errors()
_BAD_STATE = Error.kinds.index(Error.BadState)
