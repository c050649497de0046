# ---- sparse matrices ----

class _SparseOptions(_ct.Structure):
    """tk_sparse_options."""
    _fields_ = [("columns", _ct.c_bool), ("full", _ct.c_bool), ("blocks", _ct.c_bool), ("wide", _ct.c_bool)]


_sparse_starts = _bind("tk_sparse_starts", _ct.POINTER(_ct.c_int32), _P)
_sparse_indices = _bind("tk_sparse_indices", _ct.POINTER(_ct.c_int32), _P)
_sparse_rows, _sparse_cols, _sparse_values = (_bind(f"tk_sparse_{name}", _ct.c_size_t, _P) for name in ("rows", "cols", "values"))
_sparse_project = _bind("tk_sparse_project", _ct.c_int, _P, _ct.c_bool)
_sparse_fix = _bind("tk_sparse_fix", _ct.c_int, _P, _P, _ct.c_size_t, _P, _ct.c_size_t)
_sparse_free = _bind("tk_sparse_free", None, _P)
_Colouring = _ct.CFUNCTYPE(_ct.c_int32, _P, _ct.c_bool, _ct.c_int64, _ct.c_int64, _ct.POINTER(_ct.c_int64), _ct.POINTER(_ct.c_int32), _ct.POINTER(_ct.c_int32))
_sparse_colour = _bind("tk_sparse_colour", _ct.c_int, _P, _P, _P)
_sparse_colours = _bind("tk_sparse_colours", _ct.c_size_t, _P)

# What a method gives without SciPy: the arrays that its matrices have.
SparseMatrix = _collections.namedtuple("SparseMatrix", "data indices indptr shape")


class _Pattern:
    """A pattern of C. It is freed with the module's handle."""

    def __init__(self):
        self.pointer, self.colouring, self.callback = _P(), None, None

    def __del__(self, free=_sparse_free):
        free(self.pointer)


def _table(pointer, n):
    """A copy, since a matrix may outlive its pattern."""
    return _np.array(_np.ctypeslib.as_array(pointer, (n,))) if n else _np.zeros(0, _i32)


def _set_colouring(pattern, colouring, session):
    """Of a computed matrix; an exception of the function reaches the caller through the session."""
    def colour(user, symmetric, rows, cols, starts, of, colours):
        try:
            first = _table(starts, rows + 1)
            found = _np.asarray(colouring(symmetric, rows, cols, first, _table(of, int(first[-1]))))
            if found.dtype.kind not in "iu" or found.shape != (cols,):
                raise TypeError(f"colouring gives an integer for each of {cols} columns, not {found.dtype} of shape {found.shape}")
            if cols:
                _np.ctypeslib.as_array(colours, (cols,))[:] = found
            return int(found.max(initial=-1)) + 1
        except BaseException as e:
            session._raised.append(e)
            return -1

    callback = None if colouring is None else _Colouring(colour)
    session._check(_sparse_colour(pattern.pointer, _ct.cast(callback, _P), None))
    pattern.colouring, pattern.callback = colouring, callback


def _colours(kernel):
    """Of the kernel's last matrix."""
    patterns, name = kernel._h.check().patterns, type(kernel).__name__
    return next((_sparse_colours(patterns[key].pointer) for key in reversed(patterns) if key[0] == name), 0)


def _scipy_matrix(layout, parts):
    try:
        import scipy.sparse
    except ImportError:
        return parts
    return getattr(scipy.sparse, f"{layout}_matrix")(parts[:3], parts.shape)


def _fixed_flags(fixed, n, size, several):
    """A flag for each of n elements' `size` components; several: of more than one field."""
    flags = _np.asarray(fixed)
    if flags.dtype != _np.bool_:
        raise TypeError(f"fixed is an array of bools, not of {flags.dtype}")
    if several and flags.size != n * size:
        raise ValueError(f"fixed has {n * size} bools, one for each component of the fields, not {flags.size}")
    if flags.size not in (n, n * size):
        raise ValueError(f"fixed has {n} bools, one for each element of the field, or {n * size}, one for each component, not {flags.size}")
    return _np.repeat(flags.ravel(), n * size // flags.size) if flags.size else flags.ravel()


def _sparse(kernel, make, run, arguments, dtype, block, layout, full=False, project=None, fixed=None, several=False, colouring=None):
    """The matrix of a kernel. Its pattern is made once; C makes it again when other elements are read."""
    if layout not in ("csr", "csc", "bsr"):
        raise ValueError(f"layout is 'csr', 'csc' or 'bsr', not {_short(layout)}")
    handle = kernel._h.check()
    options = _SparseOptions(layout == "csc", full, layout == "bsr", False)
    key = (type(kernel).__name__, layout, full)
    pattern = handle.patterns.pop(key, None) or _Pattern()     # the last one of all, when it is put back
    status = make(handle.pointer, *arguments, _ct.byref(options), _ct.byref(pattern.pointer))
    if status:
        handle.fail(status)
    handle.patterns[key] = pattern
    p = pattern.pointer
    if colouring is not pattern.colouring:
        _set_colouring(pattern, colouring, handle.session)
    if project is not None:
        _sparse_project(p, project)
    data = _np.zeros(_sparse_values(p), dtype)
    status = run(handle.pointer, *arguments, p, _at(data), data.size)
    if status:
        handle.fail(status)
    shape = [_sparse_rows(p), _sparse_cols(p)]
    if fixed is not None:
        flags = _fixed_flags(fixed, shape[0] // (1 if layout == "bsr" else block[0]), block[0], several)
        _sparse_fix(p, _at(data), data.size, _at(flags), flags.size)
    indptr = _table(_sparse_starts(p), shape[layout == "csc"] + 1)
    indices = _table(_sparse_indices(p), int(indptr[-1]))
    if layout == "bsr":
        data, shape = data.reshape(-1, *block), [n * b for n, b in zip(shape, block)]
    return _scipy_matrix(layout, SparseMatrix(data, indices, indptr, tuple(shape)))
