"""Operators, methods and slices of sparse matrices. The functions themselves are written in C++."""

import numbers

from . import _heatpp as C
from ._spellings import named_after

S = C.sparse
_MATRICES = (S.DCSRMatrix, S.DCSCMatrix)
_METHODS = ("sum mean max min argmax argmin abs conj power multiply count_nonzero norm diagonal tril triu astype map_values eliminate_zeros "
            "transpose resplit to_dense to_coo to_csr to_csc take_rows take_columns scale_rows scale_columns").split()


def _method(function):
    @named_after(function)
    def method(self, *arguments, **options):
        return function(self, *arguments, **{name: value for name, value in options.items() if name not in ("dtype", "out") or value is not None})
    return method


def _operator(function, *kinds):
    def operator(self, other):
        if isinstance(other, _MATRICES) and not isinstance(other, type(self)):
            other = (S.to_csr if isinstance(self, S.DCSRMatrix) else S.to_csc)(other)
        return function(self, other) if isinstance(other, (*_MATRICES, *kinds)) else NotImplemented
    return operator


def _divided(self, number):
    return S.multiply(self, 1 / number) if isinstance(number, numbers.Number) else NotImplemented


def _product_from_left(self, other):
    other = other if isinstance(other, C.DNDarray) else C.array(other)
    return S.matmul(S.transpose(self), other) if other.ndim == 1 else S.matmul(S.transpose(self), other.T).T


def _part(self, index):
    rows, columns = index if isinstance(index, tuple) and len(index) == 2 else (index, slice(None))
    if isinstance(rows, slice) and isinstance(columns, slice):
        return S.submatrix(self, rows, columns)
    if isinstance(rows, numbers.Integral) or isinstance(columns, numbers.Integral) or isinstance(index, tuple) and len(index) != 2:
        raise TypeError(f"[sparse] got the index {index!r}; expected slices or lists of rows and columns")
    found = S.submatrix(self, rows, slice(None)) if isinstance(rows, slice) else S.take_rows(self, rows)
    return S.submatrix(found, slice(None), columns) if isinstance(columns, slice) else S.take_columns(found, columns)


def _repr(self):
    return f"<{type(self).__name__} of shape {self.shape}, {self.nnz} entries, {self.dtype}, split {self.split}>"


def from_scipy(matrix, split=0):
    """Returns a matrix of scipy, or of any type that has `tocoo()`; it must be equal on all ranks. Collective."""
    found = matrix.tocoo()
    return S.from_coo(C.array(found.row, dtype=C.int64), C.array(found.col, dtype=C.int64), C.array(found.data), found.shape, split=split)


S.from_scipy = from_scipy
for _matrix in _MATRICES:
    for _name in _METHODS:
        setattr(_matrix, _name, _method(getattr(S, _name)))
    for _name, _made in {"__add__": _operator(S.add), "__sub__": _operator(S.subtract), "__mul__": _operator(S.multiply, numbers.Number), "__rmul__": _operator(S.multiply, numbers.Number),
                         "__truediv__": _divided, "__matmul__": _operator(S.matmul, object), "__rmatmul__": _product_from_left, "__pow__": lambda self, number: S.power(self, number),
                         "__neg__": lambda self: S.multiply(self, -1), "__abs__": lambda self: S.abs(self), "__getitem__": _part, "__repr__": _repr,
                         "__str__": lambda self: S.to_string(self), "__copy__": lambda self: S.map_values(self, C.copy),
                         "__deepcopy__": lambda self, known: S.map_values(self, C.copy), "T": property(lambda self: S.transpose(self)),
                         "ndim": property(lambda self: 2), "__array_ufunc__": None}.items():
        setattr(_matrix, _name, _made)
