"""HeAT's sparse matrices, based on heatpp's."""

import numpy as np
import torch
from mpi4py import MPI

from .. import _heatpp as C
from . import types
from ._arrays import DNDarray, Wrapped, _numbers, _put, kinds
from ._ranks import comm_of, sanitize_comm, sanitize_device, together
from ._sanitation import sanitize_out

S = C.sparse
__all__ = ["DCSR_matrix", "DCSC_matrix", "sparse_csr_matrix", "sparse_csc_matrix", "to_sparse_csr", "to_sparse_csc", "to_dense", "add", "mul"]


def _tensor(values):
    return torch.from_numpy(np.array(values))


class _Matrix(Wrapped):
    """A matrix of heatpp with HeAT's names. Names that begin with l are this rank's, all others the whole matrix's; values are PyTorch tensors."""

    ndim = 2
    dtype = property(lambda self: types.canonical_heat_type(self._x.dtype))
    comm = property(lambda self: comm_of(self._x.comm))
    device = property(lambda self: sanitize_device(self._x.values.device))
    shape = gshape = property(lambda self: tuple(self._x.shape))
    split = property(lambda self: self._x.split)
    nnz = gnnz = property(lambda self: self._x.nnz)
    lnnz = property(lambda self: self._x.lnnz)
    data = gdata = property(lambda self: _tensor(S.resplit(self._x, None).values.larray))
    ldata = property(lambda self: _tensor(self._x.values.larray))
    indices = gindices = property(lambda self: self._indices(S.resplit(self._x, None)))
    lindices = property(lambda self: self._indices(self._x))
    indptr = gindptr = property(lambda self: self._indptr(S.resplit(self._x, None)))
    lindptr = property(lambda self: self._indptr(self._x))
    larray = property(lambda self: self._tensor_of(self.lindptr, self.lindices, self.ldata, size=self.lshape))
    balanced = property(lambda self: self.is_balanced())

    def _indices(self, x):
        return _tensor(getattr(x, self._names[0]).larray).long()

    def _indptr(self, x):
        return torch.tensor(getattr(x, self._names[1]))

    @property
    def lshape(self):
        extents = list(self.shape)
        extents[self._axis] = len(self.lindptr) - 1
        return tuple(extents)

    def is_distributed(self):
        return self.split is not None and self.comm.is_distributed()

    def is_balanced(self, force_check=False):
        return self.comm.handle.allreduce(self.lshape == self.comm.chunk(self.shape, self.split)[1], MPI.LAND)

    def counts_displs_nnz(self):
        """Returns how many entries each rank has, and how many are before them."""
        if self.split is None:
            raise ValueError("[counts_displs_nnz] got a matrix that is not split; expected a split one")
        counts = self.comm.handle.allgather(self.lnnz)
        return tuple(counts), tuple(sum(counts[:rank]) for rank in range(len(counts)))

    def astype(self, dtype, copy=True):
        found = S.astype(self._x, types.ours_of(dtype))
        if copy:
            return type(self)(found)
        self._x = found
        return self

    def todense(self, order="C", out=None):
        """Returns the matrix as an array."""
        return to_dense(self, order, out)

    toarray = to_dense = todense
    T = property(lambda self: kinds[type(S.transpose(self._x))](S.transpose(self._x)))

    def __repr__(self):
        return f"(indptr: {self.indptr}, indices: {self.indices}, data: {self.data}, dtype=ht.{self.dtype.__name__}, device={self.device}, split={self.split})"


class DCSR_matrix(_Matrix):  # noqa: N801
    """A matrix by rows. With split 0 the rows are split over the ranks."""

    _axis, _names, _tensor_of = 0, ("column_indices", "row_ptr"), staticmethod(torch.sparse_csr_tensor)


class DCSC_matrix(_Matrix):  # noqa: N801
    """A matrix by columns. With split 1 the columns are split over the ranks."""

    _axis, _names, _tensor_of = 1, ("row_indices", "column_ptr"), staticmethod(torch.sparse_csc_tensor)


kinds.update({S.DCSRMatrix: DCSR_matrix, S.DCSCMatrix: DCSC_matrix})


def _entries(obj):
    """Returns rows, columns and values of this rank's entries, and the shape."""
    if isinstance(obj, torch.Tensor) and obj.layout != torch.strided:
        entries = obj.cpu().to_sparse_coo().coalesce()
        return (*(each.numpy() for each in entries.indices()), entries.values().numpy(), tuple(obj.shape))
    if hasattr(obj, "tocoo"):
        entries = obj.tocoo()
        return entries.row, entries.col, entries.data, entries.shape
    numbers = _numbers(obj)
    if numbers.dtype == object:
        raise TypeError(f"[sparse] got {type(obj).__name__}; expected a matrix")
    if numbers.ndim != 2:
        raise ValueError(f"[sparse] got {numbers.ndim} axes; expected 2")
    return (*np.nonzero(numbers), numbers[np.nonzero(numbers)], numbers.shape)


def _factory(kind):
    axis = kind._axis

    def factory(obj, dtype=None, split=None, is_split=None, device=None, comm=None):
        """Returns a matrix of data that are equal on all ranks, or, with is_split, of each rank's part."""
        if split not in (None, axis) or is_split not in (None, axis) or None not in (split, is_split):
            raise ValueError(f"[sparse] got split {split} and is_split {is_split}; expected {axis} for one of them or neither")
        device = sanitize_device(obj.device if device is None and isinstance(obj, DNDarray) else device)
        comm = sanitize_comm(comm)
        if isinstance(obj, DNDarray):
            made = (S.from_dense if axis == 0 else S.to_csc)(obj._x.to_device(str(device)))
            made = made if split is None else S.resplit(made, split)
        else:
            *places, values, shape = _entries(obj) if is_split is None else together(comm, _entries, obj)
            counts = None
            if is_split is not None:
                shapes = comm.handle.allgather(tuple(shape))
                if len({each[1 - axis] for each in shapes}) > 1:
                    raise ValueError(f"[sparse] got parts of shapes {shapes}; expected the same extents except along axis {axis}")
                counts = [each[axis] for each in shapes]
                places[axis] = places[axis] + sum(counts[:comm.rank])
                shape = tuple(sum(counts) if i == axis else n for i, n in enumerate(shape))
            vectors = [C.from_local(np.ascontiguousarray(each), split=None if counts is None else 0, comm=comm.ours).to_device(str(device))
                       for each in (*(np.asarray(place, np.int64) for place in places), values)]
            made = S.from_coo(*vectors, shape, split=0 if (split, is_split) != (None, None) else None)
            made = made if axis == 0 else S.to_csc(made)
            made = made if counts is None else S.redistribute(made, counts)
        return kind(made if dtype is None else S.astype(made, types.ours_of(dtype)))
    return factory


sparse_csr_matrix, sparse_csc_matrix = _factory(DCSR_matrix), _factory(DCSC_matrix)


def to_sparse_csr(array):
    """Returns the nonzero elements, by rows."""
    return sparse_csr_matrix(array)


def to_sparse_csc(array):
    """Returns the nonzero elements, by columns."""
    return sparse_csc_matrix(array)


def to_dense(sparse_matrix, order="C", out=None):
    """Returns the matrix as an array."""
    if order != "C":
        raise NotImplementedError(f"[to_dense] got order {order!r}; expected C")
    found = DNDarray(S.to_dense(sparse_matrix._x))
    if out is not None:
        sanitize_out(out, found.shape, found.split, found.device)
    return _put(found, out)


def _elementwise(of_matrices, of_values):
    def call(t1, t2):
        """Applies the operation to two matrices, where missing entries are 0, or to the entries and a number."""
        matrices = [each for each in (t1, t2) if isinstance(each, _Matrix)]
        if not matrices or not all(isinstance(each, _Matrix) or np.isscalar(each) for each in (t1, t2)):
            raise TypeError(f"[sparse] got {type(t1).__name__} and {type(t2).__name__}; expected matrices or one and a number")
        kind = types.ours_of(types.result_type(t1, t2))
        given = [S.astype(each._x, kind) for each in matrices]
        if len(given) == 1:
            number = t2 if isinstance(t1, _Matrix) else t1
            return type(matrices[0])(S.map_values(given[0], lambda values: of_values(values, number)))
        splits = {each.split for each in matrices}
        return type(matrices[0])(of_matrices(*(S.resplit(each, matrices[0]._axis) if len(splits) > 1 and each.split is None else each for each in given)))
    return call


add, mul = _elementwise(S.add, C.add), _elementwise(S.multiply, C.multiply)
_Matrix.__add__ = _Matrix.__radd__ = _Matrix.add = lambda self, other: add(self, other)
_Matrix.__mul__ = _Matrix.__rmul__ = _Matrix.mul = lambda self, other: mul(self, other)
DNDarray.to_sparse_csr, DNDarray.to_sparse_csc = to_sparse_csr, to_sparse_csc
