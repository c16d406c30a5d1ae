"""The parts that python/generate.py does not write: types that src/casters.hpp converts, and declarations that Python does not have, with the reason."""

CASTERS = {f"heatpp::{name}" for name in (
    "Dtype", "Device", "Shape", "Axes", "Grid", "BlockSplit", "Scalar", "Operand", "KeptOperand", "Slice", "Out", "Piece", "Blocks", "Choices",
    "HistogramRange", "MinkaMle", "FeatureChoice", "linalg::NormOrder", "io::Source")}

# Methods that compute. They do not become properties, although they take no arguments.
METHODS = {"all", "wait", "is_balanced", "is_writable", "is_adopted"}

# Declarations that Python does not have, and types that declarations in Python cannot use, by reason.
WITHOUT = {f"heatpp::{name}": reason for reason, names in {
    "src/, heatpp/_api.py or Python itself has it": (
        "Index", "Selection", "Literal", "DNDarray::DNDarray", "DNDarray::index", "DNDarray::index_put", "DNDarray::larray", "DNDarray::mutable_larray", "DNDarray::grid", "array", "asarray", "print",
        "name", "itemsize"),
    "messages between ranks are mpi4py's, and the levels of machines training's": (
        "Communicator::send", "Buffer", "ConstBuffer", "Memory", "BasicBlock", "Communicator::exchange", "Request", "Communicator::Failure", "Communicator::agree",
        "Communicator::impl", "Communicator::split", "Communicator::split_shared", "AllreducePlan", "Topology", "wire_bits", "wire_bytes", "wait_all", "wait_any", "all_or_none", "comm::describe"),
    "importing the module starts MPI, and ends it": ("Environment", "ProgressThread"),
    "Python raises": ("Error", "ErrorKind", "throw_error", "NotFittedError"),
    "rows come from arrays, sparse matrices and io": ("RowSource", "io::StoredRows"),
    "Python reads host memory as arrays": ("sparse::from_local", "sparse::from_local_csc"),
    "internal": ("random::Generator::reserve", "io::hdf5_mutex", "comm_of"),
    "C++ spells slices and tests of types otherwise": ("slice", "Slice", "Ellipsis", "NewAxis", "isscalar"),
}.items() for name in names}

# Types of detail/ in declarations that only heatpp's own sources use.
INTERNAL = {"detail::Cut", "detail::GridCut"}

# The array API's names of parts of results.
FIELDS = {"heatpp::linalg::QR": ["Q", "R"], "heatpp::linalg::SVD": ["U", "S", "Vh"], "heatpp::linalg::Eigen": ["eigenvalues", "eigenvectors"],
          "heatpp::UniqueAll": ["values", "indices", "inverse_indices", "counts"], "heatpp::UniqueInverse": ["values", "inverse_indices"]}
