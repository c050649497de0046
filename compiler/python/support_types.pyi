import os as _os
import typing as _t

import numpy as _np
import numpy.typing as _npt

_T = _t.TypeVar("_T", bound=_np.generic)
_T_co = _t.TypeVar("_T_co", bound=_np.generic, covariant=True)
_F = _t.TypeVar("_F")
_Float = float
_Int = int
_Flag = bool
_Integer = _t.SupportsIndex
_Number = _t.Union[_t.SupportsFloat, _t.SupportsIndex]
_Bool = _t.Union[bool, _np.bool_]
_Values = _npt.ArrayLike


class _Holder(_t.Protocol[_T_co]):
    """A field of any module."""
    @property
    def data(self) -> _npt.NDArray[_T_co]: ...
    @property
    def _spec(self) -> _t.Any: ...


_Array = _t.Union[_npt.NDArray[_T], _Holder[_T]]


class _Matrix:
    """A function that computes a Jacobian or Hessian."""
    pattern: _t.Final[tuple[_npt.NDArray[_np.intc], _npt.NDArray[_np.intc]]]
    shape: _t.Final[tuple[int, int]]
