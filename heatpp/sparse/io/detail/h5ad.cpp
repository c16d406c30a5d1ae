#include <heatpp/sparse/io/detail/h5ad.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

#include <algorithm>
#include <vector>

namespace heatpp::sparse::detail {
namespace {

using heatpp::detail::raise;
using io::detail::Handle;

constexpr std::int64_t names_at_once = 1 << 16;

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// Writes the numbers from `first` on as texts.
bool write_names(hid_t dataset, std::int64_t first, std::int64_t count) {
  std::vector<std::string> names;
  std::vector<const char*> texts;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(first + i));
  for (const auto& name : names) texts.push_back(name.c_str());
  const auto start = static_cast<hsize_t>(first), extent = static_cast<hsize_t>(count);
  const Handle space(H5Dget_space(dataset)), memory(H5Screate_simple(1, &extent, nullptr));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &extent, nullptr);
  return H5Dwrite(dataset, text_type().get(), memory.get(), space.get(), H5P_DEFAULT, texts.data()) >= 0;
}

/// Writes a table without columns, whose rows have the names "0", "1", ....
bool write_frame(hid_t file, const char* name, std::int64_t rows) {
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) return true;
  const Handle frame(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  write_text(frame.get(), "encoding-type", "dataframe");
  write_text(frame.get(), "encoding-version", "0.2.0");
  write_text(frame.get(), "_index", "_index");
  const hsize_t none = 0, extent = static_cast<hsize_t>(rows);
  const Handle no_columns(H5Screate_simple(1, &none, nullptr)), space(H5Screate_simple(1, &extent, nullptr));
  const Handle order(
      H5Acreate2(frame.get(), "column-order", text_type().get(), no_columns.get(), H5P_DEFAULT, H5P_DEFAULT));
  const Handle index(
      H5Dcreate2(frame.get(), "_index", text_type().get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (!order || !index) return false;
  write_text(index.get(), "encoding-type", "string-array");
  write_text(index.get(), "encoding-version", "0.2.0");
  for (std::int64_t first = 0; first < rows; first += names_at_once)
    if (!write_names(index.get(), first, std::min(names_at_once, rows - first))) return false;
  return true;
}

}  // namespace

void write_text(hid_t object, const char* name, const char* text) {
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute(H5Acreate2(object, name, text_type().get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  H5Awrite(attribute.get(), text_type().get(), static_cast<const void*>(&text));
}

void write_frames(hid_t file, const DCSRMatrix& a, const std::string& shown, const char* op) {
  const Handle root(H5Oopen(file, "/", H5P_DEFAULT));
  if (H5Aexists(root.get(), "encoding-type") <= 0) {
    write_text(root.get(), "encoding-type", "anndata");
    write_text(root.get(), "encoding-version", "0.1.0");
  }
  if (!write_frame(file, "obs", a.rows()) || !write_frame(file, "var", a.columns()))
    raise<IoError>(op,
                   "got an error while writing the names of rows and columns to \"{}\" ({}); expected room on the disk",
                   shown, io::detail::innermost_error());
}

}  // namespace heatpp::sparse::detail
