import math as _math
import sys as _sys
import types as _types
import weakref as _weakref


_StopFunction = _ct.CFUNCTYPE(_ct.c_bool, _P)


def _bind_library():
    """Functions of libtkc by their names without tk_: _tk.tape_end."""
    t, i, text = _P, _ct.c_int, _ct.c_char_p
    return _types.SimpleNamespace(**{name: _bind("tk_" + name, result, *arguments) for name, result, *arguments in (
        ("status_name", text, i), ("error", text), ("error_status", i), ("session_is_busy", _ct.c_bool, t), ("session_defaults", _Options), ("session_create", t, t),
        ("session_destroy", None, t), ("session_threads", i, t), ("session_set_threads", i, t, i),
        ("session_set_seed", i, t, _ct.c_uint64), ("session_draws", _ct.c_uint64, t), ("session_set_draws", i, t, _ct.c_uint64), ("session_error", text, t), ("session_clear_error", None, t),
        ("session_stop_at_nonfinite", i, t, _ct.c_bool), ("session_set_stop", i, t, _StopFunction, t), ("session_clear_grad", i, t), ("session_clear_dual", i, t),
        ("call", i, t, t, t, _ct.c_size_t), ("call_with", i, t, t, t, _ct.c_size_t, t, i), ("gradcheck_with", i, t, t, _HostFunction, t, t), ("tape_begin", i, t, _ct.c_uint), ("tape_end_with", i, t, _ct.c_double), ("tape_drop", i, t),
        ("tape_is_open", _ct.c_bool, t), ("tape_budget", i, t, _ct.c_size_t), ("tape_budget_files", i, t, text, _ct.c_size_t), ("tape_last_report", _Report, t), ("tape_bytes", _ct.c_size_t, t), ("module_clear_grad", i, t),
        ("module_clear_dual", i, t), ("field_clear_grad", i, t), ("field_clear_dual", i, t),
        ("forward_begin", i, t, i, t, t, _ct.c_size_t), ("forward_end", i, t), ("forward_is_open", _ct.c_bool, t),
        ("field_next", t, t, t), ("field_extent", _ct.c_int64, t, i), ("field_component", t, t, i, i),
        ("field_structs", t, t, i))})


class _Options(_ct.Structure):
    """tk_session_options of <tkc/tkc.h>."""
    _fields_ = [("threads", _ct.c_int), ("deterministic", _ct.c_bool), ("flush_denormals", _ct.c_bool),
                ("seed", _ct.c_uint64), ("alloc", _P), ("alloc_user", _P), ("parallel", _P), ("parallel_user", _P),
                ("on_print", _P), ("print_user", _P)]


class _Report(_ct.Structure):
    """tk_tape_report of <tkc/tkc.h>."""
    _fields_ = [*((name, _ct.c_size_t) for name in ("budget", "bytes", "launches", "planned", "again", "images", "slots", "filed")),
                ("seconds", _ct.c_double), ("predicted", _ct.c_double)]


_PrintFunction = _ct.CFUNCTYPE(None, _P, _ct.c_char_p)
_HostFunction = _ct.CFUNCTYPE(_ct.c_int, _P)  # does for programs as well, whose results are ignored


_ProgressFunction = _ct.CFUNCTYPE(None, _P, _ct.c_int64, _ct.c_int64)


class _Triple(_ct.Structure):
    """tk_triple."""
    _fields_ = [("name", _ct.c_char_p), ("forward", _HostFunction), ("backward", _HostFunction), ("jvp", _HostFunction), ("flags", _ct.c_uint)]


class _Footprint(_ct.Structure):
    """tk_footprint."""
    _fields_ = [("field", _P), ("what", _ct.c_uint), ("box", _P)]


class _GradcheckResult(_ct.Structure):
    """tk_gradcheck_result."""
    _fields_ = [("field", _P), ("component", _ct.c_int64), ("reverse", _ct.c_double), ("forward", _ct.c_double),
                ("difference", _ct.c_double), ("step", _ct.c_double), ("compared", _ct.c_int64), ("kinks", _ct.c_int64),
                ("jumps", _ct.c_int64), ("undecided", _ct.c_int64), ("has_forward", _ct.c_bool)]


class _GradcheckOptions(_ct.Structure):
    """tk_gradcheck_options."""
    _fields_ = [("inputs", _P), ("ninputs", _ct.c_int), ("tolerance", _ct.c_double), ("directions", _ct.c_int), ("seed", _ct.c_uint64), ("progress", _ProgressFunction)]


def _show_progress(done, of):
    """A line on stderr, at each percent."""
    if done == of or done * 100 // of > (done - 1) * 100 // of:
        print(f"\rgradcheck: {done} of {of}", end="\n" if done == of else "", file=_sys.stderr, flush=True)


_Gradcheck = _collections.namedtuple("gradcheck", "reverse forward difference step compared kinks jumps undecided")
_Gradcheck.__doc__ = "What gradcheck found: the three derivatives where they differ most, and how many numbers were compared."


# ---- errors: classes that all modules of a process share ----

def _make_errors():
    shared = _sys.modules.setdefault("tkc_errors", _types.ModuleType("tkc_errors", "Errors of modules written by tkc."))
    if hasattr(shared, "Error"):
        return shared.Error

    class Error(Exception):
        """A failure in libtkc. Its kinds are attributes: Error.BadState is TK_BAD_STATE of the C interface."""
        __module__, __qualname__ = "tkc_errors", "Error"

    also = {"NoMemory": MemoryError, "BadArgument": ValueError, "Assert": AssertionError, "Bounds": IndexError}
    Error.kinds = [None]
    while True:
        status = _tk.status_name(len(Error.kinds)).decode()
        if not status.startswith("TK_"):
            break
        name = status[3:].title().replace("_", "")
        kind = type(name, (Error, also[name]) if name in also else (Error,), {"__module__": "tkc_errors", "__doc__": status, "status": status})
        Error.kinds.append(kind)
        setattr(Error, name, kind)
        setattr(shared, name, kind)
    shared.Error = Error
    return Error


def _stops(raised, lines, on_print):
    """Its send() is called between chunks of a launch, and after prints: True ends the launch. All code of Python that runs in a
    launch is between its yield and its except: in front of a function's first try, ctypes would drop what handlers of signals raise."""
    while True:
        try:
            while True:
                yield bool(raised)
                while lines and not raised:
                    for line in lines.popleft().decode(errors="replace")[:-1].split("\n"):
                        on_print(line)
                lines.clear()
        except GeneratorExit:
            return
        except BaseException as e:
            raised.append(e.with_traceback(e.__traceback__.tb_next))    # traceback.clear_frames would end this


def _field_pointer(f):
    if not isinstance(getattr(f, "_pointer", None), int):
        raise TypeError(f"a footprint has fields of modules, not {type(f).__name__}")
    return f._pointer


# ---- sessions ----

class _Unique:
    """Stands for memory of libtkc, which no copy and no other process has."""
    __slots__ = ()

    def __reduce_ex__(self, protocol):
        raise TypeError(f"{self._what()} cannot be copied or pickled, as its memory is libtkc's: keep the arrays of the fields "
                        "(m.x.data.copy()) and the params, make a new module, and assign them to its fields")

    def _what(self):
        return "a module"


class Session(_Unique):
    """Owns what modules share: tape, forward scope, threads. Module(session=s) makes a module of it; without, each module has its own.

    threads: 0 for all processors; deterministic: scatters give the same bits for any number of threads; flush_denormals: kernels
    treat denormal numbers as zero; seed: of random numbers; on_print: gets each line of the kernels' print, a str without its
    end, which else goes to C's stdout. One thread of Python at a time uses a session and its modules."""
    _files = (None, 0)

    def __init__(self, threads=0, deterministic=False, flush_denormals=False, seed=0, on_print=None):
        options = _tk.session_defaults()
        options.threads = _as_i32(threads, "threads")
        options.deterministic = _as_bool(deterministic, "deterministic")
        options.flush_denormals = _as_bool(flush_denormals, "flush_denormals")
        options.seed = _as_u64(seed, "seed")
        self._kept, self._raised, self._inside, self._gone, self._launched = [], [], 0, [], False
        lines = _collections.deque()
        if on_print is not None:
            if not callable(on_print):
                raise TypeError(f"on_print is a function of a line, not {_short(on_print)}")
            self._print = _PrintFunction(lines.insert)
            options.on_print, options.print_user = _ct.cast(self._print, _P), _sys.maxsize // 2    # at the end
        self._pointer = _tk.session_create(_ct.byref(options))
        if not self._pointer:
            raise _creation_error()
        stops = _stops(self._raised, lines, on_print)
        next(stops)
        self._stop = _StopFunction(stops.send)
        _tk.session_set_stop(self._pointer, self._stop, None)
        _weakref.finalize(self, _end_session, self._pointer, self._gone).atexit = False

    def __setattr__(self, name, value):
        known = getattr(type(self), name, None)
        if not name.startswith("_") and not isinstance(known, property):
            raise AttributeError(f"{name} is a method of sessions: call it" if known else f"a session has no {name}")
        super().__setattr__(name, value)

    def _check(self, status):
        """A failure becomes an exception, and the session forgets it."""
        if self._gone:
            self._sweep()
        if status:
            message = _tk.session_error(self._pointer).decode() or _tk.error().decode()
            _tk.session_clear_error(self._pointer)
            if self._raised:
                raised = self._raised[0]
                self._raised.clear()
                raise raised
            raise Error.kinds[status](message)

    def _set_files(self, files):
        """Of a budget: the directory, None for no files, and the most bytes of a file."""
        if files != self._files:
            self._check(_tk.tape_budget_files(self._pointer, *files))
            self._files = files

    def __repr__(self):
        return f"<session: {self.threads} thread{'s' if self.threads > 1 else ''}>"

    def _what(self):
        return "a session"

    def _sweep(self):
        """Modules that were collected while they could not go."""
        while self._gone and not _tk.session_is_busy(self._pointer):
            destroy, pointer = self._gone.pop()
            destroy(pointer)

    def _keep(self, *arrays):
        """A tape reads the arrays of its launches once more when it closes."""
        if _tk.tape_is_open(self._pointer):
            self._kept.extend(arrays)

    def _host(self, function, kind=_HostFunction):
        """A function for C. What it raises comes out of the call, tape or scope in which it ran."""
        def run(_, *arguments):
            self._inside += 1
            try:
                function(*arguments)
                return 0
            except BaseException as e:
                self._raised.append(e)
                return _BAD_STATE
            finally:
                self._inside -= 1

        return kind(run) if function is not None else kind()

    def _until_raised(self, function):
        """Does nothing any more once it has raised: libtkc sees the session failed, and stops."""
        def once(*arguments):
            if not self._raised:
                try:
                    function(*arguments)
                except BaseException:
                    fail = _HostFunction(lambda _: _BAD_STATE)
                    _tk.call(self._pointer, _ct.byref(_Triple(b"the program", fail, fail, fail)), None, 0)
                    raise
        return once

    def call(self, forward, backward=None, jvp=None, *, reads=None, stores=None, adds=None, needs=None):
        """Calls forward() as one step of a tape or forward scope, with derivatives of its own (tk_call of the C interface).

        backward() does what an adjoint does, when the tape closes: it adds to gradients of what forward() read, and takes those of
        what it stored. In a forward scope jvp() runs instead of forward(): values and duals.

        The other arguments are the footprint, lists of fields: forward() reads, stores into and adds to them by code of Python;
        backward() needs them as forward() left them. Without any of the lists the tape takes all fields for all of these."""
        uses = [(1, reads), (2, stores), (4, adds), (8, needs)]
        lines = None if all(fields is None for _, fields in uses) else [(_field_pointer(f), what) for what, fields in uses for f in fields or ()]
        self._launched = True
        self._call(getattr(forward, "__qualname__", "a function of Python"), forward, backward, jvp, lines)

    def _call(self, name, forward, backward, jvp, lines):
        triple = _Triple(name.encode(), self._host(forward), self._host(backward), self._host(jvp))
        self._keep(triple)
        if lines is None:
            self._check(_tk.call(self._pointer, _ct.byref(triple), None, 0))
            return
        footprint = (_Footprint * len(lines))(*((pointer, what, None) for pointer, what in lines))
        self._check(_tk.call_with(self._pointer, _ct.byref(triple), None, 0, footprint, len(lines)))

    def _stores(self, fields, store, change):
        """store() writes data of these fields. Behind a launch of a tape or forward scope it is a step: change(k) does to derivatives,
        plane k, what it does to data. change: None where that is not known; such a step is refused."""
        taped, forward = _tk.tape_is_open(self._pointer), _tk.forward_is_open(self._pointer)
        planes = {k for k in (1, 2) for field in fields if field._has(k)}
        if self._inside or not (taped or forward) or not self._launched or (forward and not planes):
            return store()
        names = " and ".join(field._spec.name for field in fields)
        if planes and change is None:
            raise TypeError(f"a store to {names} on a tape or in a forward scope has no derivative here: store numbers that depend on no field, or write a kernel")
        done, raised = [], []

        def run():
            try:
                done.append(store())
            except Exception as e:    # no reason for the tape to fail
                raised.append(e)

        def derive(k):
            if k in planes and done:
                change(k)

        def run_with_duals():
            run()
            derive(2)

        lines = [(pointer, 2) for field in fields for pointer in field._pointers()]
        self._call(f"a store to {names}", run, lambda: derive(1), run_with_duals, lines)
        if raised:
            raise raised[0]
        return done[0]

    @property
    def threads(self):
        """How many threads kernels run on at most."""
        return _tk.session_threads(self._pointer)

    @threads.setter
    def threads(self, n):
        self._check(_tk.session_set_threads(self._pointer, _as_i32(n, "threads")))

    def set_seed(self, seed):
        """Random numbers begin anew, with this seed."""
        self._check(_tk.session_set_seed(self._pointer, _as_u64(seed, "seed")))

    @property
    def draws(self):
        """How many launches drew random numbers since the seed was set. Setting it lets a part of a program draw again what it drew."""
        return _tk.session_draws(self._pointer)

    @draws.setter
    def draws(self, n):
        self._check(_tk.session_set_draws(self._pointer, _as_u64(n, "draws")))

    def stop_at_nonfinite(self, on=True):
        """Code built with --debug stops at the first NaN or infinity (Error.NotFinite)."""
        self._check(_tk.session_stop_at_nonfinite(self._pointer, _as_bool(on, "on")))

    def clear_grad(self):
        """Sets all gradients of all modules to zero."""
        self._check(_tk.session_clear_grad(self._pointer))

    def clear_dual(self):
        """Sets all duals of all modules to zero."""
        self._check(_tk.session_clear_dual(self._pointer))

    @property
    def tape_bytes(self):
        """Bytes held for the launches of the open tape, or of the last one."""
        return _tk.tape_bytes(self._pointer)

    @property
    def tape_report(self):
        """Of the last tape with a budget: budget and bytes held, launches, how many ran again, copies of data (images)."""
        report = _tk.tape_last_report(self._pointer)
        return _types.SimpleNamespace(**{name: getattr(report, name) for name, _ in report._fields_})


def _end_session(pointer, gone):
    for destroy, module in gone:
        destroy(module)
    _tk.session_destroy(pointer)


def _creation_error():
    return Error.kinds[_tk.error_status()](_tk.error().decode())


_session_options = Session.__init__.__code__.co_varnames[1:Session.__init__.__code__.co_argcount]


def _as_files(files):
    """Directory and bytes for tape_budget_files."""
    if files is None:
        return Session._files
    if not isinstance(files, tuple) or len(files) != 2:
        raise TypeError(f"files is a directory and a number of bytes, not {_short(files)}")
    return _os.fsencode(files[0]), _as_u64(files[1], "files[1]")


class _Tape:
    """What `with m.tape(m.loss):` enters."""

    def __init__(self, loss, flags, gradient, budget, files):
        self._loss, self._flags, self._gradient, self._budget, self._files = loss, flags, gradient, budget, files
        self._session, self._memory = loss._h.session, loss._h.memory

    def __enter__(self):
        if not _tk.tape_is_open(self._session._pointer):
            self._session._check(_tk.tape_budget(self._session._pointer, self._budget))
            self._session._set_files(self._files)
        self._session._check(_tk.tape_begin(self._loss._pointer, self._flags))
        if not _tk.forward_is_open(self._session._pointer):
            self._session._launched = False
        return self

    def __exit__(self, kind, value, trace):
        session = self._session
        try:
            if kind is not None or self._loss._h.pointer is None:
                session._check(_tk.tape_drop(session._pointer))
            else:
                session._check(_tk.tape_end_with(self._loss._pointer, self._gradient))
        finally:
            session._kept.clear()
            session._sweep()


class _Forward:
    """What `with m.forward(m.w, seed, outputs):` enters."""

    def __init__(self, field, seed, outputs):
        self._field, self._outputs, self._seed = field, outputs, seed if seed is None else field._in_memory_order(seed)
        self._session, self._memory = field._h.session, field._h.memory

    def __enter__(self):
        outputs = (_P * len(self._outputs))(*(f._pointer for f in self._outputs))
        count = 0 if self._seed is None else self._seed.size
        self._session._check(_tk.forward_begin(outputs, len(outputs), self._field._pointer, _at(self._seed), count))
        self._session._launched = False
        return self

    def __exit__(self, kind, value, trace):
        status = _tk.forward_end(self._session._pointer)
        self._session._sweep()
        if kind is None:
            self._session._check(status)
        elif status:
            _tk.session_clear_error(self._session._pointer)
