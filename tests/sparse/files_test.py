"""Checks that heatpp reads the sparse files of scipy, h5py and AnnData, and that these read ours: files_test.py MPIEXEC ... TEST.
Ends with 77, which ctest shows as skipped, if there is no scipy. Without h5py and AnnData, their formats are left out."""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import h5py
except ImportError:
    h5py = None
try:
    import anndata
except ImportError:
    anndata = None


def matrices():
    random = np.random.default_rng(0)
    a = sparse.random(23, 17, density=0.2, random_state=random, format="csr")
    yield "real", a
    yield "float32", a.astype(np.float32)
    yield "whole", (a * 100).astype(np.int64)
    yield "complex", a + 1j * a.multiply(a)
    yield "empty", sparse.csr_matrix((5, 3))
    yield "tall", sparse.random(1, 40, density=0.5, random_state=random, format="csr").T.tocsr()
    yield "whole16", (a * 100).astype(np.uint16)


def write_petsc(path, a):
    a = a.tocsr()
    a.sort_indices()
    head = [1211216, *a.shape, a.nnz, *np.diff(a.indptr), *a.indices]
    path.write_bytes(np.array(head, ">i4").tobytes() + a.data.astype(">c16" if np.iscomplexobj(a.data) else ">f8").tobytes())


def read_petsc(path, like):
    data = path.read_bytes()
    _, rows, columns, entries = np.frombuffer(data, ">i4", 4)
    lengths = np.frombuffer(data, ">i4", rows, 16)
    indices = np.frombuffer(data, ">i4", entries, 16 + 4 * rows)
    values = np.frombuffer(data, ">c16" if np.iscomplexobj(like.data) else ">f8", entries, 16 + 4 * (rows + entries))
    return sparse.csr_matrix((values.astype(values.dtype.newbyteorder("=")), indices.astype(np.int32), np.r_[0, np.cumsum(lengths)]),
                             shape=(rows, columns))


def write_hdf5(folder, name, a):
    for form in ("csr", "csc"):
        b = a.asformat(form)
        with h5py.File(folder / f"{name}.older.{form}.h5", "w") as file:
            group = file.create_group("X")
            group.attrs["h5sparse_format"] = form
            group.attrs["h5sparse_shape"] = b.shape
            for part in ("data", "indices", "indptr"):
                group.create_dataset(part, data=getattr(b, part), chunks=True if b.nnz else None, maxshape=(None,) if b.nnz else None)
    b = a.tocsc()
    with h5py.File(folder / f"{name}.10x.h5", "w") as file:
        group = file.create_group("matrix")
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(b, part), compression="gzip" if b.nnz else None)
        group["shape"] = np.array(b.shape, np.int32)
        group["barcodes"] = np.array([b"cell"] * b.shape[1])
        group.create_group("features")
    with h5py.File(folder / f"{name}.rows.h5", "w") as file:  # as a user's own program may write it, with only the shape
        for part in ("data", "indices", "indptr"):
            file[f"m/{part}"] = getattr(a, part)
        file["m/shape"] = a.shape
    with h5py.File(folder / f"{name}.matlab.mat", "w", userblock_size=512) as file:
        file.create_group("m").attrs["MATLAB_sparse"] = np.uint64(b.shape[0])
        file["m"].attrs["MATLAB_class"] = np.bytes_("double")
        file["m/jc"] = b.indptr.astype(np.uint64)
        if b.nnz and np.iscomplexobj(b.data):
            file["m/data"] = b.data.view([("real", b.data.real.dtype), ("imag", b.data.real.dtype)])
        elif b.nnz:
            file["m/data"] = b.data
        if b.nnz:
            file["m/ir"] = b.indices.astype(np.uint64)


def write(folder, name, a, expected):
    """Writes files of the matrix; heatpp must read the same matrix from each."""
    kinds = ["csr", "csc", "coo", "dia", "bsr"]
    for kind in kinds:
        for compressed in (False, True):
            sparse.save_npz(folder / f"{name}.{kind}.{compressed}.npz", a.asformat(kind), compressed=compressed)
    sparse.save_npz(folder / f"{name}.array.npz", sparse.csr_array(a))
    scipy.io.mmwrite(folder / f"{name}.mtx", a)
    scipy.io.mmwrite(folder / f"{name}.dense.mtx", a.toarray())
    (folder / f"{name}.packed.mtx.gz").write_bytes(gzip.compress((folder / f"{name}.mtx").read_bytes()))
    write_petsc(folder / f"{name}.petsc", a)
    if h5py:
        write_hdf5(folder, name, a)
    if anndata and not np.iscomplexobj(a.data):
        for form in ("csr", "csc"):
            anndata.AnnData(a.asformat(form)).write_h5ad(folder / f"{name}.{form}.h5ad")
            anndata.AnnData(a.asformat(form)).write_zarr(folder / f"{name}.{form}.zarr")
    for path in folder.glob(f"{name}.*"):
        expected[path.name] = a
    if a.shape[0] == 23:
        square = (a @ a.T).tocsr()
        for kind in ("symmetric", "skew-symmetric", "hermitian"):
            upper = sparse.triu(square, k=1)
            other = upper.conj() if kind == "hermitian" else upper
            whole = (upper - upper.T) if kind == "skew-symmetric" else upper + other.T
            if (kind == "hermitian") != np.iscomplexobj(a.data) or whole.dtype.kind == "u":
                continue
            scipy.io.mmwrite(folder / f"{name}.{kind}.mtx", whole, symmetry=kind)
            expected[f"{name}.{kind}.mtx"] = whole.tocsr()
        if a.dtype == np.float64:
            scipy.io.mmwrite(folder / f"{name}.pattern.mtx", a, field="pattern")
            expected[f"{name}.pattern.mtx"] = (a != 0).astype(float)


def read(path, like):
    if path.suffix == ".npz":
        return sparse.load_npz(path)
    if path.suffix == ".mtx":
        return sparse.csr_matrix(scipy.io.mmread(path))
    if path.suffix == ".petsc":
        return read_petsc(path, like)
    if h5py is None:
        return like
    if path.suffix == ".h5ad" and anndata and not np.iscomplexobj(like.data):
        whole = anndata.read_h5ad(path)
        assert list(whole.obs_names) == [str(i) for i in range(like.shape[0])], path
        return sparse.csr_matrix(whole.X)
    with h5py.File(path) as file:
        group = file["X"]
        if anndata and not np.iscomplexobj(like.data):
            return sparse.csr_matrix(anndata.io.read_elem(group))
        assert group.attrs["encoding-type"] == "csr_matrix" and group.attrs["encoding-version"] == "0.1.0"
        return sparse.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=tuple(group.attrs["shape"]))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    expected = {}
    for part in ("in", "out"):
        (folder / part).mkdir()
    for name, a in matrices():
        write(folder / "in", name, a, expected)
    subprocess.run([*sys.argv[1:], "[.python]"], check=True, env={**os.environ, "HEATPP_SPARSE_FILES": str(folder)})
    written = sorted((folder / "out").iterdir())
    assert len(written) == 6 * len(expected), (len(written), len(expected))
    for path in written:
        source = next(name for name in sorted(expected, key=len, reverse=True) if path.name.startswith(name + "."))
        a, b = expected[source], read(path, expected[source])
        assert a.shape == b.shape, (path.name, a.shape, b.shape)
        text = ".mtx" in path.name and a.dtype.itemsize < 8  # a float32 in decimals
        np.testing.assert_allclose(b.toarray(), a.toarray(), rtol=1e-6 if text else 0, atol=0, err_msg=path.name)
    print(f"{len(expected)} files read, {len(written)} written, with h5py: {h5py is not None}, with AnnData: {anndata is not None}")
