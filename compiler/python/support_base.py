import collections as _collections
import ctypes as _ct
import operator as _operator
import os as _os

import numpy as _np

_P = _ct.c_void_p
_bool, _i8, _i16, _i32, _i64, _u8, _u16, _u32, _u64, _f32, _f64 = (
    _np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))


def _load(name):
    """The shared library, which lies beside this file."""
    return _ct.CDLL(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), name))


def _bind(name, result, *arguments):
    """A function of the library, whose types are set once."""
    function = getattr(_lib, name)
    function.restype = result
    function.argtypes = arguments
    return function


def _pattern(name, n):
    """Rows and columns of the entries of a matrix that may differ from zero: arrays that index it."""
    tables = [_np.array((_ct.c_int * n).in_dll(_lib, f"{name}_{which}"), _np.intc) for which in ("row", "col")]
    for table in tables:
        table.flags.writeable = False
    return tuple(tables)


def _structure(c_struct):
    """The NumPy type of a C struct: the same members at the same places; elements have their members as attributes, too."""
    return _np.dtype((_np.record, _np.dtype(c_struct)))


_derive_forms = {"grad": "grad, jvp", "jvp": "grad, jvp", "hvp": "grad, jvp, hvp", "jac": "jac(x)", "hess": "hess(x)"}


def _no_form(what, name, form, by):
    """What is said of a derivative that derive(...) leaves out."""
    asks = f"{what} {name} has no {form}: 'derive({_derive_forms[form]})' behind its parameters in the .tk asks for it"
    return f"{asks}, by {by} x" if form in ("jac", "hess") else asks


def __getattr__(name):
    if not name.startswith("_") and hasattr(globals().get("Module"), name):
        raise AttributeError(f"{name} is one of a module object: m = Module(), then m.{name}")
    stem, _, form = name.rpartition("_")
    for function in (stem, stem + "_") if form in _derive_forms else ():
        if isinstance(globals().get(function), type(_bind)):
            raise AttributeError(_no_form("function", function, form, "input"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, *(name for name in globals() if name in ("torch", "jax") or name.startswith("__"))])


# ---- messages ----

def _near(name, known):
    """What a wrong name may have meant, as the end of a message."""
    import difflib
    lower = {k.lower(): k for k in known}
    found = difflib.get_close_matches(name.lower(), lower, 1)
    return f" (did you mean '{lower[found[0]]}'?)" if found else ""


def _short(x):
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "..."


# ---- numbers ----

def _as_real(x, name):
    if not isinstance(x, (str, bytes)):
        try:
            return float(x)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} is a number, not {_short(x)}")


def _as_bool(x, name):
    if not isinstance(x, (bool, _np.bool_)):
        raise TypeError(f"{name} is True or False, not {_short(x)}")
    return bool(x)


def _integer(dtype):
    low, high = int(_np.iinfo(dtype).min), int(_np.iinfo(dtype).max)
    kind = f"{dtype.kind}{8 * dtype.itemsize}"

    def convert(x, name):
        try:
            n = _operator.index(x)
        except TypeError:
            raise TypeError(f"{name} is an integer ({kind}), not {_short(x)}") from None
        if not low <= n <= high:
            raise ValueError(f"{name} is {kind}, and {n} is out of its range")
        return n

    return convert


_as_i8, _as_i16, _as_i32, _as_i64, _as_u8, _as_u16, _as_u32, _as_u64 = (
    _integer(t) for t in (_i8, _i16, _i32, _i64, _u8, _u16, _u32, _u64))


def _fitting(value, dtype, name):
    """value as an array whose numbers dtype can hold: floats hold floats and integers, integers those in their range, bools bools."""
    _unmasked(value, name)
    try:
        a = _np.asarray(value)
    except ValueError as e:
        raise ValueError(f"{name}: no array: {e}") from None
    if a.dtype == dtype or a.size == 0:
        return a
    kinds = {"f": "fiu", "i": "iu", "u": "iu"}.get(dtype.kind, "")
    if a.dtype.kind not in kinds or dtype.names:
        raise TypeError(f"{name} holds {_type_name(dtype)}, not {_type_name(a.dtype)}")
    if dtype.kind in "iu":
        limits = _np.iinfo(dtype)
        if int(a.min()) < limits.min or int(a.max()) > limits.max:
            raise ValueError(f"{name} holds {_type_name(dtype)}, and there are numbers out of its range")
    return a


def _unmasked(value, name):
    if isinstance(value, _np.ma.MaskedArray):
        raise TypeError(f"{name}: a masked array has numbers that are hidden; say what stands there (numpy.ma.filled(a, 0))")


def _type_name(dtype):
    return f"structs of {', '.join(dtype.names)}" if dtype.names else {"U": "text", "S": "bytes", "O": "objects"}.get(dtype.kind, str(dtype))


def _store(target, key, value, name):
    """target[key] = value, if it fits: TypeError by its type, ValueError by its shape. Structs are dicts, tuples or NumPy's."""
    if target.dtype.names and isinstance(value, dict):
        for member, v in value.items():
            if member not in target.dtype.names:
                raise ValueError(f"{name} has no member {member!r}")
            _store(target[member], key, v, f"{name}.{member}")
    elif target.dtype.names and isinstance(value, tuple):
        if len(value) != len(target.dtype.names):
            raise ValueError(f"{name} has {len(target.dtype.names)} members, not {len(value)}")
        _store(target, key, dict(zip(target.dtype.names, value)), name)
    else:
        a = _fitting(value, target.dtype, name)
        try:
            target[key] = a
        except ValueError:
            shape = _np.shape(target[key])
            if a.shape[a.ndim - len(shape):] == shape:
                raise
            part = "" if key is ... or isinstance(key, tuple) and not key else "the part that is assigned to of "
            raise ValueError(f"{part}{name} has the shape {shape}, not {a.shape}") from None


# ---- arguments of the C functions ----

def _at(array):
    """Where an array begins; None: no array."""
    return None if array is None else array.__array_interface__["data"][0]


def _vector(name, value, dtype, shape):
    """A copy, of the type and shape that the C function takes."""
    a = _fitting(value, dtype, name)
    if a.shape != shape:
        raise ValueError(f"{name} has the shape {shape}, not {a.shape}")
    return _np.ascontiguousarray(a, dtype)


def _struct(name, value, c_struct, dtype):
    filled = _np.zeros((), dtype)
    _store(filled, (), value, name)
    return c_struct.from_buffer_copy(filled)


def _given(extents, name, array, dtype, dims, shape=(), write=False):
    """An array that the C function reads or writes where it lies. Extents that have names get their values here. None stays that."""
    if array is None:
        return None
    if not isinstance(array, _np.ndarray) and hasattr(array, "_h"):
        array = array.data
    _unmasked(array, name)
    if not isinstance(array, _np.ndarray) or array.dtype != dtype:
        what, hint = type(array).__name__, ""
        if isinstance(array, _np.ndarray):
            what = _type_name(array.dtype)
            if {array.dtype.kind, dtype.kind} == {"f"}:
                hint = f" ({name}.astype('{dtype}') is one; or let the .tk have {'f%d' % (8 * array.dtype.itemsize)})"
        elif not dtype.names:
            hint = f" (numpy.array(..., '{dtype}'))"
        raise TypeError(f"{name}: a NumPy array of {_type_name(dtype)} is wanted, not {what}{hint}")
    if array.ndim != len(dims) + len(shape) or array.shape[len(dims):] != shape:
        wanted = ", ".join(map(str, (*dims, *shape)))
        raise ValueError(f"{name}: the shape ({wanted}) is wanted, not {array.shape}")
    for wanted, extent in zip(dims, array.shape):
        if extent != (extents.setdefault(wanted, extent) if isinstance(wanted, str) else wanted):
            known = f"{wanted} = {extents[wanted]}" if isinstance(wanted, str) else wanted
            raise ValueError(f"{name}: an extent is {extent}, where {known} is wanted")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError(f"{name}: the array must be C-contiguous (numpy.ascontiguousarray)")
    if write and not array.flags.writeable:
        raise ValueError(f"{name}: the array must be writeable")
    return array


def _made(extents, name, dtype, dims, shape=()):
    """A new array of zeros, of the extents that other arrays have told."""
    for d in dims:
        if isinstance(d, str) and d not in extents:
            raise TypeError(f"{name} must be given: no other array tells its extent {d}")
    return _np.zeros((*(extents[d] if isinstance(d, str) else d for d in dims), *shape), dtype)


def _needed(name, array):
    if array is None:
        raise TypeError(f"{name} must be a NumPy array, not None")
    return array


def _apart(written, others):
    """What is written overlaps nothing else."""
    seen = list(others.items())
    for name, a in written.items():
        for other, b in seen:
            if a is not None and b is not None and a.size and b.size and _np.may_share_memory(a, b):
                raise ValueError(f"{name} overlaps {other}, and is written")
        seen.append((name, a))


def _workspace(size):
    return _np.empty(size // 8 + 1, _np.uint64)


def _ref(value):
    """The address of a number or struct; None: none."""
    return None if value is None else _ct.byref(value)
