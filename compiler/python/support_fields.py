# ---- programs over fields, as functions ----

def _leaves(field):
    """The fields of numbers in a field of structs, whichever file wrote their classes."""
    members = [x for x in field.__dict__.values() if type(x).__name__ in ("Field", "_Structs", "_Group")]
    return [leaf for x in members for leaf in _leaves(x)] if members else [field]


class _State:
    """All fields and params of modules, as they stand."""

    def __init__(self, modules):
        self.params = [(m, type(m._h.check().params).from_buffer_copy(m._h.params)) for m in modules]
        slots = [(m, name) for m in modules for name, x in vars(type(m)).items() if type(x).__name__ == "_Slot"]
        self.data = [(leaf, leaf.data.copy()) for m, name in slots for leaf in _leaves(getattr(m, name))]

    def restore(self):
        for leaf, values in self.data:
            leaf.data[...] = values
        for m, params in self.params:
            m._take_params(params)

    def changed(self, but=()):
        """The name of a field that is not what it was."""
        for leaf, values in self.data:
            if not any(leaf is x for x in but) and not _np.array_equal(leaf.data, values, equal_nan=values.dtype.kind == "f"):
                return leaf._spec.name
        for m, params in self.params:
            if bytes(params) != bytes(m._h.params):
                return "a param"
        return None


class _Program:
    """A program of launches as a function from fields to fields: what over_fields makes.

    pure: begins with the fields as they stood when it was made, and nobody may change them meanwhile."""
    compares = True

    def __init__(self, module, program, inputs, outputs, seed, pure):
        self.modules = tuple(module) if isinstance(module, (tuple, list)) else (module,)
        self.name = "a program over fields"
        self.program, self.seed, self.pure = program, _as_u64(seed, "seed"), pure
        self.inputs, self.outputs = ((x,) if isinstance(x, Field) or hasattr(x, "_h") else tuple(x) for x in (inputs, outputs))
        if not self.outputs:
            raise TypeError("outputs: at least one field is wanted")
        for m in self.modules:
            m._mine(*self.inputs, *self.outputs)
        for x in (*self.inputs, *self.outputs):
            if not hasattr(x, "_spec") or x._spec.dtype.names:
                raise TypeError("inputs and outputs are fields of numbers, or members of structs")
            if not any(x is leaf for leaf, _ in _State(self.modules).data):
                raise ValueError(f"field {x._spec.name} is one of a module that is not given")
        names = [x._spec.name for x in self.inputs]
        self.names = [n.replace(".", "_") for n in names]
        self.lock = _lock_of(self.modules[0].session)
        if pure:
            self._begin_pure()
        self.eager = not pure and len(self.outputs) == 1 and self._is_loss(self.outputs[0]) and not any(self.outputs[0] is x for x in self.inputs)

    def _begin_pure(self):
        """Pure functions of the same modules know how the others left the fields, and how often somebody else has changed them."""
        kept = self.modules[0].__dict__.setdefault("_pure", {})
        self.others = kept.setdefault(tuple(map(id, self.modules)), _types.SimpleNamespace(left=None, changes=0))
        self.start = _State(self.modules)
        if self.others.left is None or self.others.left.changed():
            self.others.left, self.others.changes = self.start, self.others.changes + 1
        self.changes = self.others.changes

    @staticmethod
    def _is_loss(field):
        return "grad" in field._spec.planes and field.data.shape == () and field.data.dtype.kind == "f"

    def gradient_of(self, k):
        return "grad" in self.inputs[k]._spec.planes

    def dtype_of(self, k):
        return self.inputs[k].data.dtype

    def has_second(self):
        return False

    def _begin(self, values):
        session = self.modules[0].session
        if _tk.tape_is_open(session._pointer) or _tk.forward_is_open(session._pointer):
            raise Error.BadState("a program over fields cannot run while a tape or forward scope of its session is open")
        for x, v in zip(self.inputs, values):
            if _np.shape(v) != x.data.shape:
                raise ValueError(f"{x._spec.name} has the shape {x.data.shape}, not {_np.shape(v)}")
            x.data = v
        for x in self.outputs:
            if not any(x is i for i in self.inputs):
                x.data[...] = 0
        session.set_seed(self.seed)

    def _start(self):
        """In front of a run of a pure one."""
        name = self.others.left.changed() or (self.changes != self.others.changes and "a field")
        if name:
            raise RuntimeError(f"{name} was changed since the function was made: make it an input, or the function anew")
        self.start.restore()

    def run(self, values, differentiated=False):
        with self.lock:
            if self.pure:
                self._start()
            kept = _State(self.modules) if differentiated and not self.pure and not self.eager else None
            seed = self.seed
            try:
                self._begin(values)
                if differentiated and self.eager:
                    with self._module_of(self.outputs[0]).tape(self.outputs[0]):
                        self.program()
                    kept = [x.grad.copy() if "grad" in x._spec.planes else None for x in self.inputs]
                else:
                    self.program()
                return [x.data.copy() for x in self.outputs], (kept, seed)
            finally:
                if self.pure:
                    self.others.left = _State(self.modules)
                else:
                    self.seed = (self.seed + 1) % 2**64

    def _module_of(self, field):
        return next(m for m in self.modules if m._h is field._h)

    def pull(self, values, outs, seeds, kept):
        kept, seed = kept or (None, self.seed)
        if self.eager:
            return [None if g is None else g * seeds[0] for g in kept]
        with self.lock:
            now, last = _State(self.modules), self.seed
            try:
                if self.pure:
                    self._start()
                else:
                    kept.restore()
                self.seed = seed
                return self._again(values, outs, seeds)
            finally:
                self.seed = last
                now.restore()

    def _again(self, values, outs, seeds):
        """Outputs that are no single numbers have no tape of their own: it is one of any loss, and a step at its end adds the seeds."""
        loss = next((leaf for leaf, _ in _State(self.modules).data if self._is_loss(leaf) and not any(leaf is x for x in self.inputs)), None)
        if loss is None:
            raise RuntimeError("a tape needs a field of one real with needs_grad: the program has none")
        session = self.modules[0].session
        for x in self.inputs:
            if "grad" in x._spec.planes:
                x.clear_grad()
        value = loss.data.copy()

        def add_seeds():
            for x, seed in zip(self.outputs, seeds):
                if seed is not None:
                    x.grad[...] += seed

        with self._module_of(loss).tape(loss, gradient=0):
            loss.data[...] = value
            self._begin_on_tape(values)
            self.program()
            session.call(lambda: None, add_seeds)
        for x, out in zip(self.outputs, outs):
            scale = float(_np.max(_np.abs(out[_np.isfinite(out)]), initial=1e-30)) if out.dtype.kind == "f" else 0.0
            if not _np.allclose(x.data, out, rtol=0, atol=scale * (1e-3 if out.dtype.itemsize == 4 else 1e-8), equal_nan=True):
                raise RuntimeError(f"run once more for its gradient, the program gave another {x._spec.name}: it depends on more than its fields and params")
        return [x.grad.copy() if "grad" in x._spec.planes else None for x in self.inputs]

    def _begin_on_tape(self, values):
        for x, v in zip(self.inputs, values):
            x.data[...] = v
        for x in self.outputs:
            if not any(x is i for i in self.inputs):
                x.data[...] = 0
        self.modules[0].session.set_seed(self.seed)

    def twice(self, values, outs, seeds, duals):
        raise RuntimeError("a program over fields has no second derivative here")
