#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/detail/small_file.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>

#include <algorithm>
#include <array>

namespace heatpp::sparse {

using namespace detail;
using io::detail::Handle;

namespace {

/// Returns an array in a group. Its file stays open as long as it exists.
StoredArray dataset(const Loading& file, const std::string& name) {
  auto open = std::make_shared<io::detail::Dataset>(io::detail::open_dataset(file.path, {name}, file.op));
  const auto& info = open->info;
  if (info.shape.size() != 1)
    raise<IoError>(file.op, "got \"{}\" of shape {} in \"{}\"; expected a vector", name, heatpp::to_string(info.shape),
                   file.path);
  auto read = [op = file.op, path = file.path, open](int axis, std::int64_t first, std::int64_t count) {
    const auto box = io::detail::narrow(io::detail::select(open->info.shape, {}, op), axis, first, count);
    auto out = at::empty({count}, heatpp::detail::to_torch(open->info.element.dtype));
    if (count > 0) io::detail::read_box(*open, box, out, {op, path});
    return out;
  };
  return {name, info.shape, info.element.dtype, std::move(read)};
}

bool exists(hid_t file, const std::string& name) {
  return static_cast<bool>(Handle(H5Oopen(file, name.c_str(), H5P_DEFAULT)));
}

/// Whether MATLAB has written the group as a sparse matrix.
bool is_of_matlab(hid_t file, const std::string& prefix) {
  const Handle group(H5Oopen(file, prefix.empty() ? "/" : prefix.c_str(), H5P_DEFAULT));
  return group && H5Aexists(group.get(), "MATLAB_sparse") > 0;
}

bool is_sparse(hid_t file, const std::string& prefix) {
  return exists(file, prefix + "indptr") || is_of_matlab(file, prefix);
}

/// Returns the prefix of a group's names: "" for the root, "X/".
std::string prefix_of(const Loading& file) {
  const auto& group = file.options.group;
  if (!group.empty()) return group.back() == '/' ? group : group + "/";
  const Handle opened(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, io::detail::local_access().get()));
  if (!opened || exists(opened.get(), "indptr")) return {};  // opening the datasets gives the error
  std::vector<std::string> found;
  const auto visit = [](hid_t root, const char* name, const H5L_info_t*, void* to) -> herr_t {
    const auto prefix = std::string(name) + "/";
    if (is_sparse(root, prefix)) static_cast<std::vector<std::string>*>(to)->push_back(prefix);
    return 0;
  };
  H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found);
  if (found.size() != 1)
    raise<ValueError>(file.op,
                      "got no group, and {} groups with a sparse matrix in the root of \"{}\"; expected one, "
                      "or a group; dense arrays are io::load's",
                      found.size(), file.path);
  return found[0];
}

/// Returns the text of an attribute; "" if there is none.
std::string text_of(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT)), type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), &text) < 0 || !text) return {};
    const std::string result(text);
    H5free_memory(text);
    return result;
  }
  std::string text(H5Tget_size(type.get()), '\0');
  H5Aread(attribute.get(), type.get(), text.data());
  return text.substr(0, text.find('\0'));
}

/// Returns two whole numbers; {-1, -1} if the attribute does not have this form.
Shape shape_of(hid_t object, const char* name) {
  std::array<std::int64_t, 2> extents{-1, -1};
  if (H5Aexists(object, name) <= 0) return {-1, -1};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT)), type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  if (H5Tget_class(type.get()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.get()) != 2 ||
      H5Aread(attribute.get(), H5T_NATIVE_INT64, extents.data()) < 0)
    return {-1, -1};
  return {extents[0], extents[1]};
}

/// Sets shape and orientation from AnnData's attributes of a group. Returns false for another group.
bool describe_encoded(const Loading& file, hid_t group, const std::string& prefix, StoredMatrix& stored) {
  const auto encoding = text_of(group, "encoding-type"), older = text_of(group, "h5sparse_format");
  if (encoding.empty() && older.empty()) return false;
  const auto kind = encoding.empty() ? older + "_matrix" : encoding;
  if (kind != "csr_matrix" && kind != "csc_matrix")
    raise<IoError>(file.op, "got the encoding {:?} of \"{}\" in \"{}\"; expected csr_matrix or csc_matrix", kind,
                   prefix, file.path);
  stored.by_columns = kind == "csc_matrix";
  stored.shape = shape_of(group, encoding.empty() ? "h5sparse_shape" : "shape");
  return true;
}

/// Returns the shape of a group without an encoding, from a dataset or an attribute.
Shape shape_beside(const Loading& file, hid_t opened, hid_t group, const std::string& prefix) {
  if (!exists(opened, prefix + "shape")) {
    if (const auto shape = shape_of(group, "shape"); shape[0] >= 0) return shape;
    raise<IoError>(file.op,
                   "got no attribute encoding-type or h5sparse_format, and no shape in a dataset or an attribute, in "
                   "\"{}\" of \"{}\"; expected a sparse matrix, whose shape one of them says",
                   prefix, file.path);
  }
  const auto extents = dataset(file, prefix + "shape");
  if (extents.size() != 2)
    raise<IoError>(file.op, "got a shape of {} numbers in \"{}\"; expected two", extents.size(), file.path);
  const auto numbers = extents.numbers(file, 0, 2);
  return {numbers[0].item<std::int64_t>(), numbers[1].item<std::int64_t>()};
}

/// Sets shape and orientation for all kinds of groups. Matrices are by rows, except those of 10x Genomics, which have
/// barcodes, and those whose number of pointers fits only columns.
void describe(const Loading& file, hid_t opened, const std::string& prefix, StoredMatrix& stored) {
  const Handle group(H5Oopen(opened, prefix.empty() ? "/" : prefix.c_str(), H5P_DEFAULT));
  if (describe_encoded(file, group.get(), prefix, stored)) return;
  stored.shape = shape_beside(file, opened, group.get(), prefix);
  const bool of_10x =
      exists(opened, prefix + "barcodes") && (exists(opened, prefix + "features") || exists(opened, prefix + "genes"));
  const auto lines = stored.pointers.size() - 1;
  stored.by_columns = of_10x || (lines != stored.shape[0] && lines == stored.shape[1]);
}

/// Returns an array without elements, for datasets that MATLAB does not write if there are no entries.
StoredArray nothing(const std::string& name, Dtype dtype) {
  return {name, {0}, dtype, [dtype](int, std::int64_t, std::int64_t) {
            return at::empty({0}, heatpp::detail::to_torch(dtype));
          }};
}

/// Opens MATLAB's matrices: by columns; the attribute MATLAB_sparse is the number of rows. logical numbers are bool.
void open_matlab(const Loading& file, hid_t opened, const std::string& prefix, StoredMatrix& stored) {
  const Handle group(H5Oopen(opened, prefix.c_str(), H5P_DEFAULT));
  const Handle attribute(H5Aopen(group.get(), "MATLAB_sparse", H5P_DEFAULT));
  std::int64_t rows = -1;
  if (H5Sget_simple_extent_npoints(Handle(H5Aget_space(attribute.get())).get()) == 1)
    H5Aread(attribute.get(), H5T_NATIVE_INT64, &rows);
  const bool entries = exists(opened, prefix + "ir");
  stored.by_columns = true;
  stored.pointers = dataset(file, prefix + "jc");
  stored.indices = entries ? dataset(file, prefix + "ir") : nothing("ir", int64);
  stored.values = entries ? dataset(file, prefix + "data") : nothing("data", float64);
  stored.shape = {rows, stored.pointers.size() - 1};
  if (text_of(group.get(), "MATLAB_class") != "logical") return;
  stored.values.dtype = Dtype::bool_;
  stored.values.read = [numbers = stored.values.read](int axis, std::int64_t first, std::int64_t count) {
    return numbers(axis, first, count).ne(0);
  };
}

void open_group(const Loading& file, const std::string& prefix, StoredMatrix& stored) {
  const Handle opened(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, io::detail::local_access().get()));
  if (opened && is_of_matlab(opened.get(), prefix)) return open_matlab(file, opened.get(), prefix, stored);
  stored.pointers = dataset(file, prefix + "indptr");
  stored.indices = dataset(file, prefix + "indices");
  stored.values = dataset(file, prefix + "data");
  describe(file, opened.get(), prefix, stored);
}

}  // namespace

DCSRMatrix load_hdf5(const std::filesystem::path& path, const LoadOptions& options) {
  const io::detail::Hdf5Turn turn;
  return load_matrix({"load_hdf5", path, options}, [](const Loading& file) {
    StoredMatrix stored;
    all_or_none(file.comm, [&] { open_group(file, prefix_of(file), stored); });
    return load_compressed(file, stored);
  });
}

}  // namespace heatpp::sparse
