"""Linear algebra functions whose results or arguments differ in HeAT."""

import builtins

from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, _inside, _outside, _put, array, sanitize_in
from ._wrapped import alike, core, wrapped

_linalg = wrapped("linalg.", C.linalg)


def _of_vectors(function):
    """Returns a function that also takes a vector for each matrix of a stack, and rounds results that go into integers."""
    def call(A, b, *given, out=None, **named):
        stacked = isinstance(A, DNDarray) and isinstance(b, DNDarray) and 1 < b.ndim == A.ndim - 1 and b.shape == A.shape[:-1]
        found = function(A, DNDarray(C.expand_dims(b._x, -1)) if stacked else b, *given, **named)
        found = C.squeeze(found._x, -1) if stacked else found._x
        return _put(DNDarray(C.round(found) if out is not None and types.heat_type_is_exact(out.dtype) else found), out)
    return call


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Returns the sum of a diagonal: for a matrix a number, otherwise the sums of all matrices."""
    a = a if isinstance(a, DNDarray) else array(a)
    found = _put(DNDarray(C.trace((a if dtype is None else a.astype(dtype))._x, offset, axis1, axis2)), out)
    return found.item() if a.ndim == 2 and out is None else found


def matmul(a, b, allow_resplit=False):
    """Returns the product with HeAT's split. If neither matrix is split and allow_resplit is true, the first one is split before."""
    found = _product(a, b)
    if a.ndim == b.ndim == 2:
        found.resplit_(None if a.comm.size == 1 or a.split is None and b.split is None else 1 if a.split == 1 or a.split is None and b.split == 1 else 0)
        if allow_resplit and a.split is None and b.split is None and a.comm.size > 1:
            a.resplit_(0)
    return found


def _eigh(A, r_max_zolopd=None, silent=True):
    """Returns the eigenvalues from the largest on, with split 0, and the eigenvectors with the split of the matrix."""
    sanitize_in(A)
    values, vectors = C.linalg.eigh(A._x)
    return DNDarray(C.resplit(C.flip(values, 0), 0)), DNDarray(C.resplit(C.flip(vectors, 1), A.split))


def _lanczos(A, m, v0=None, V_out=None, T_out=None):
    """Returns the vectors and the tridiagonal matrix of m steps."""
    found = _outside(C.linalg.lanczos(A._x, m, _inside(v0)))
    return _put(found[0], V_out), _put(found[1], T_out)


def _hsvd(A, parts, compute_sv, maxrank=None):
    """Returns U, S, Vh and the relative error, or U and the error, with at most maxrank singular values. For a zero matrix, U and Vh are one
    column and row of zeros."""
    whole = C.linalg.norm(A._x).item()
    shapes = (A.shape[0], 1), (1,), (1, A.shape[1])
    parts = [each if whole else C.zeros(shape, dtype=each.dtype, split=each.split, comm=each.comm) for each, shape in zip(parts, shapes)]
    if maxrank is not None and maxrank < parts[1].shape[0]:
        parts = parts[0][:, :maxrank], parts[1][:maxrank], parts[2][:maxrank]
    error = C.linalg.norm(C.subtract(A._x, C.matmul(C.multiply(parts[0], parts[1]), parts[2])))
    error = DNDarray(C.divide(error, whole or 1.0))
    return (*map(DNDarray, parts), error) if compute_sv else (DNDarray(parts[0]), error)


# Options of merges, safetyshift and silent are hints on how to compute; they change no result.
def hsvd_rank(A, maxrank, compute_sv=False, maxmergedim=None, safetyshift=5, silent=True):
    """Returns the largest singular values and vectors, at most maxrank."""
    sanitize_in(A)
    return _hsvd(A, C.linalg.hsvd_rank(A._x, maxrank), compute_sv)


def hsvd_rtol(A, rtol, compute_sv=False, maxrank=None, maxmergedim=None, safetyshift=5, no_of_merges=None, silent=True):
    """Returns as many of the largest singular values and vectors as a relative error of at most rtol needs."""
    sanitize_in(A)
    return _hsvd(A, C.linalg.hsvd_rtol(A._x, rtol), compute_sv, maxrank)


def hsvd(A, maxrank=None, maxmergedim=None, rtol=None, safetyshift=0, no_of_merges=2, compute_sv=False, silent=True, warnings_off=False):
    """Returns the largest singular values and vectors: a number of them, as many as an error allows, or all."""
    if rtol is not None:
        return hsvd_rtol(A, rtol, compute_sv, maxrank)
    sanitize_in(A)
    return hsvd_rank(A, builtins.min(A.shape) if maxrank is None else maxrank, compute_sv)


def _isvd(new_data, U_old, S_old, Vt_old, maxrank=None):
    """Returns the singular value decomposition of a matrix, from that of its first columns and from further columns."""
    for each in (new_data, U_old, S_old, Vt_old):
        sanitize_in(each)
    most = builtins.min(S_old.shape[0] + new_data.shape[1], U_old.shape[0]) if maxrank is None else maxrank
    return _outside(C.linalg.isvd(new_data._x, (U_old._x, S_old._x, Vt_old._x), most))


def outer(a, b, out=None, split=None):
    """Returns all products of elements of two arrays, as a matrix. If one of them is split, it is split by rows unless `split` says otherwise."""
    sanitize_in(a), sanitize_in(b)
    found = DNDarray(C.outer(*(C.reshape(each._x, (-1,)) for each in alike((a, b)))))
    cut = 0 if split is None and not a.split is b.split is None else split
    return _put(found if cut is None else found.resplit_(cut), out)


def diag(a, offset=0):
    """Returns a matrix with a vector on a diagonal, or the diagonals of matrices."""
    return core["diag" if isinstance(a, DNDarray) and a.ndim == 1 else "diagonal"](a, offset)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=-1):
    """Returns the cross products, of vectors along one axis if it is given."""
    axes = (axis,) * 3 if axis != -1 else (axisa, axisb, axisc)
    return core["cross"](a, b, *axes)


def _vecdot(x1, x2, axis=-1, keepdims=False):
    """Returns the sums of products along an axis."""
    found = _linalg["vecdot"](x1, x2, axis)
    return DNDarray(C.expand_dims(found._x, axis)) if keepdims else found


def _svd(A, full_matrices=False, compute_uv=True, qr_procs_to_merge=2, r_max_zolopd=8):
    """Returns U, S and Vh, or only S."""
    sanitize_in(A)
    return _outside(C.linalg.svd(A._x, full_matrices=full_matrices) if compute_uv else C.linalg.svdvals(A._x))


def _qr(A, mode="reduced", procs_to_merge=2):
    """Returns Q and R, or None and R if mode is r."""
    found = _linalg["qr"](A, mode)
    return type(found)(None, found.R) if mode == "r" else found


def _solve_triangular(A, b):
    """Solves with the upper triangle of a matrix."""
    sanitize_in(A), sanitize_in(b)
    return DNDarray(C.linalg.solve_triangular(A._x, b._x, upper=True))


def _polar(A, r=None, calcH=True, condition_estimate=1e16, silent=True, r_max=8):
    """Returns the unitary and the hermitian factor, or only the first."""
    sanitize_in(A)
    found = _outside(C.linalg.polar(A._x))
    return found if calcH else found[0]


_product = _of_vectors(core["matmul"])
functions = {**_linalg, **{name: core[name] for name in "dot transpose tril triu vdot projection".split()}, "solve": _of_vectors(_linalg["solve"]), "matmul": matmul,
             "solve_triangular": _solve_triangular,
             "trace": trace, "svd": _svd, "qr": _qr, "polar": _polar, "eigh": _eigh, "lanczos": _lanczos, "isvd": _isvd, "cross": cross, "outer": outer, "vecdot": _vecdot,
             "hsvd": hsvd, "hsvd_rank": hsvd_rank, "hsvd_rtol": hsvd_rtol}
