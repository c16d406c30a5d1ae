#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/detail/compressed.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>

#include <algorithm>
#include <array>

namespace heatpp::sparse {

using namespace detail;
using io::detail::Handle;

namespace {

/// An array in a group, whose file is open as long as it is.
StoredArray dataset(const Loading& file, const std::string& name) {
  auto open = std::make_shared<io::detail::Dataset>(io::detail::open_dataset(file.path, name, file.op));
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

/// The prefix of a group's names: "" for the root, "X/".
std::string prefix_of(const Loading& file) {
  const auto& group = file.options.group;
  if (!group.empty()) return group.back() == '/' ? group : group + "/";
  const Handle opened(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, io::detail::local_access().get()));
  if (!opened || exists(opened.get(), "indptr")) return {};  // opening the datasets says what is wrong
  std::vector<std::string> found;
  const auto visit = [](hid_t root, const char* name, const H5L_info_t*, void* to) -> herr_t {
    const auto prefix = std::string(name) + "/";
    if (exists(root, prefix + "indptr")) static_cast<std::vector<std::string>*>(to)->push_back(prefix);
    return 0;
  };
  H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found);
  if (found.size() != 1)
    raise<ValueError>(file.op,
                      "got no group, and {} groups with a sparse matrix in the root of \"{}\"; expected one, "
                      "or a group",
                      found.size(), file.path);
  return found[0];
}

/// The text of an attribute; empty where there is none.
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

/// Two whole numbers; {-1, -1} where the attribute is none.
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

/// Shape and orientation, as any of the three kinds of groups says them.
void describe(const Loading& file, const std::string& prefix, StoredMatrix& stored) {
  const Handle opened(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, io::detail::local_access().get()));
  const Handle group(H5Oopen(opened.get(), prefix.empty() ? "/" : prefix.c_str(), H5P_DEFAULT));
  const auto encoding = text_of(group.get(), "encoding-type"), older = text_of(group.get(), "h5sparse_format");
  if (!encoding.empty() || !older.empty()) {
    const auto kind = encoding.empty() ? older + "_matrix" : encoding;
    if (kind != "csr_matrix" && kind != "csc_matrix")
      raise<IoError>(file.op, "got the encoding {:?} of \"{}\" in \"{}\"; expected csr_matrix or csc_matrix", kind,
                     prefix, file.path);
    stored.by_columns = kind == "csc_matrix";
    stored.shape = shape_of(group.get(), encoding.empty() ? "h5sparse_shape" : "shape");
    return;
  }
  if (!exists(opened.get(), prefix + "shape"))
    raise<IoError>(file.op,
                   "got no attribute encoding-type or h5sparse_format, and no dataset shape, in \"{}\" of "
                   "\"{}\"; expected a sparse matrix",
                   prefix, file.path);
  const auto extents = dataset(file, prefix + "shape");
  if (extents.size() != 2)
    raise<IoError>(file.op, "got a shape of {} numbers in \"{}\"; expected two", extents.size(), file.path);
  const auto numbers = extents.numbers(file, 0, 2);
  stored.by_columns = true;
  stored.shape = {numbers[0].item<std::int64_t>(), numbers[1].item<std::int64_t>()};
}

void write_text(hid_t object, const char* name, const char* text) {
  const Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Handle attribute(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  H5Awrite(attribute.get(), type.get(), static_cast<const void*>(&text));
}

/// What AnnData says of a matrix.
void write_attributes(const io::detail::SaveJob& job, const std::string& group, const DCSRMatrix& a) {
  Handle file(H5Fopen(job.path.c_str(), H5F_ACC_RDWR, io::detail::local_access().get()));
  {
    const Handle object(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    write_text(object.get(), "encoding-type", "csr_matrix");
    write_text(object.get(), "encoding-version", "0.1.0");
    const hsize_t two = 2;
    const Handle space(H5Screate_simple(1, &two, nullptr));
    const Handle shape(H5Acreate2(object.get(), "shape", H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    const std::array<std::int64_t, 2> extents{a.rows(), a.columns()};
    if (H5Awrite(shape.get(), H5T_NATIVE_INT64, extents.data()) < 0)
      raise<IoError>(job.op, "got the group \"{}\" of \"{}\", whose attributes cannot be written ({}); expected room",
                     group, job.shown, io::detail::innermost_error());
  }
  if (!file.close())
    raise<IoError>(job.op, "got an error while writing \"{}\" ({}); expected room on the disk", job.shown,
                   io::detail::innermost_error());
}

}  // namespace

DCSRMatrix load_hdf5(const std::filesystem::path& path, const LoadOptions& options) {
  const Loading file("load_hdf5", path, options);
  const io::detail::Hdf5Turn turn;
  StoredMatrix stored;
  all_or_none(file.comm, [&] {
    const auto prefix = prefix_of(file);
    stored.pointers = dataset(file, prefix + "indptr");
    stored.indices = dataset(file, prefix + "indices");
    stored.values = dataset(file, prefix + "data");
    describe(file, prefix, stored);
  });
  return load_compressed(file, stored);
}

void save_hdf5(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  constexpr auto op = "save_hdf5";
  const io::detail::Recorder recorder(op);
  const io::detail::Hdf5Turn turn;
  const auto group = options.group.empty() ? std::string("X") : options.group;
  if (group.back() == '/') raise<ValueError>(op, "got the group \"{}\"; expected a name, or one in groups", group);
  const auto [columns, pointers] = indices_to_store(a);
  const std::array<std::pair<const char*, DNDarray>, 3> arrays{
      std::pair{"data", a.values()}, std::pair{"indices", columns}, std::pair{"indptr", pointers}};
  io::SaveOptions settings{.append = options.append, .compression = options.compression};
  std::int64_t bytes = 0;
  for (const auto& [name, x] : arrays) {
    bytes += io::detail::bytes_of(x);
    io::detail::check_save_options(x.shape(), settings, op);
  }
  const auto begin = options.append ? io::detail::AsideFile::Begin::copy : io::detail::AsideFile::Begin::empty;
  const io::detail::NewFile file{op, a.comm(), path, bytes, begin};
  recorder.finish(bytes, 1, io::detail::save_one(file, [&](const io::detail::SaveJob& job) {
                    io::detail::Transfer transfer;
                    for (const auto& [name, x] : arrays) {
                      const auto dataset_name = group + "/" + name;
                      transfer = io::detail::write_dataset({job, dataset_name, settings}, x);
                      settings.append = true;
                    }
                    all_or_none(a.comm(), [&] {
                      if (a.comm().rank() == 0) write_attributes(job, group, a);
                    });
                    return transfer;
                  }));
}

}  // namespace heatpp::sparse
