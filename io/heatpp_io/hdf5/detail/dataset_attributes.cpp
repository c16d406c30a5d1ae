#include <heatpp_io/hdf5/detail/dataset_attributes.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr std::size_t most_bytes = 64 << 20;
constexpr auto labels = "DIMENSION_LABELS";

/// Returns the type of a text of any length, in UTF-8 or in the encoding of `stored`.
Handle text_type(std::optional<hid_t> stored = std::nullopt) {
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), stored ? H5Tget_cset(*stored) : H5T_CSET_UTF8);
  return type;
}

/// An attribute with its name in errors.
struct Named {
  std::string name;
  const std::string& of;
  const char* op;

  [[nodiscard]] std::string text() const { return formatted("attribute \"{}\" of {}", name, of); }
};

struct StoredAttribute {
  Handle id, type, space;
  std::size_t count = 0;
  const Named& named;

  void read(hid_t as, void* to) const {
    if (H5Aread(id.get(), as, to) < 0)
      raise<IoError>(named.op, "got {} that cannot be read ({}); expected a complete file", named.text(),
                     innermost_error());
  }
  template <class T>
  [[nodiscard]] std::vector<T> numbers(hid_t as) const {
    std::vector<T> all(count);
    read(as, all.data());
    return all;
  }
  /// netCDF stores a single number as a list of one.
  [[nodiscard]] bool is_list() const {
    const bool one = count == 1 && std::ranges::find(decoding_names, named.name) != decoding_names.end();
    return !one && H5Sget_simple_extent_type(space.get()) == H5S_SIMPLE;
  }
};

std::vector<std::string> long_texts(const StoredAttribute& from) {
  const auto type = text_type(from.type.get());
  std::vector<char*> found(from.count, nullptr);
  from.read(type.get(), found.data());
  std::vector<std::string> all;
  for (const auto* text : found) all.push_back(in_utf8(text ? text : ""));
  H5Dvlen_reclaim(type.get(), from.space.get(), H5P_DEFAULT, found.data());
  return all;
}

std::vector<std::string> short_texts(const StoredAttribute& from) {
  const auto length = H5Tget_size(from.type.get());
  std::vector<char> found(from.count * length);
  from.read(from.type.get(), found.data());
  std::vector<std::string> all;
  for (std::size_t i = 0; i < from.count; ++i) {
    std::string text(found.data() + i * length, strnlen(found.data() + i * length, length));
    if (H5Tget_strpad(from.type.get()) == H5T_STR_SPACEPAD) text.erase(text.find_last_not_of(' ') + 1);
    all.push_back(in_utf8(std::move(text)));
  }
  return all;
}

template <class T>
Attribute one_or_list(const StoredAttribute& from, std::vector<T> all) {
  if (from.is_list()) return all;
  return all.at(0);
}

/// Unsigned numbers for which int64 has no room become doubles.
Attribute whole(const StoredAttribute& from) {
  if (H5Tget_sign(from.type.get()) == H5T_SGN_NONE && H5Tget_size(from.type.get()) == 8) {
    const auto all = from.numbers<std::uint64_t>(H5T_NATIVE_UINT64);
    if (*std::ranges::max_element(all) > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return one_or_list(from, std::vector<double>(all.begin(), all.end()));
  }
  return one_or_list(from, from.numbers<std::int64_t>(H5T_NATIVE_INT64));
}

std::optional<Attribute> value_of(const StoredAttribute& from) {
  switch (H5Tget_class(from.type.get())) {
    case H5T_STRING:
      return one_or_list(from, H5Tis_variable_str(from.type.get()) > 0 ? long_texts(from) : short_texts(from));
    case H5T_ENUM:  // h5py stores bool as an enumeration
    case H5T_INTEGER: return whole(from);
    case H5T_FLOAT:
      if (H5Tget_size(from.type.get()) == sizeof(float) && !from.is_list())
        return from.numbers<float>(H5T_NATIVE_FLOAT).at(0);
      return one_or_list(from, from.numbers<double>(H5T_NATIVE_DOUBLE));
    default: return std::nullopt;
  }
}

std::string attribute_name(hid_t attribute) {
  const auto length = H5Aget_name(attribute, 0, nullptr);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, length)) + 1, '\0');
  H5Aget_name(attribute, name.size(), name.data());
  name.pop_back();
  return in_utf8(std::move(name));
}

std::optional<Attribute> read_attribute(Handle id, const Named& named) {
  StoredAttribute from{std::move(id), {}, {}, 0, named};
  from.type = Handle(H5Aget_type(from.id.get()));
  from.space = Handle(H5Aget_space(from.id.get()));
  from.count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(from.space.get())));
  if (from.count == 0) return std::nullopt;
  if (const auto bytes = H5Aget_storage_size(from.id.get()); bytes >= most_bytes)
    raise<IoError>(named.op, "got {} of {} bytes; expected less than {}", named.text(), bytes, most_bytes);
  return value_of(from);
}

/// Returns how the numbers of a dataset are stored in the file.
StoredNumbers stored_numbers(const Dataset& dataset) {
  const auto& element = dataset.info.element;
  StoredNumbers stored{element, static_cast<std::int64_t>(itemsize(element.dtype)), element.dtype == uint8};
  Handle type(H5Dget_type(dataset.id.get()));
  if (H5Tget_class(type.get()) == H5T_ENUM) type = Handle(H5Tget_super(type.get()));
  if (H5Tget_class(type.get()) != H5T_INTEGER || element.dtype == bool_) return stored;
  const auto bytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
  stored.bytes = bytes <= 2 ? bytes : bytes <= 4 ? 4 : 8;  // whole numbers of e.g. 3 bytes exist
  stored.is_unsigned = H5Tget_sign(type.get()) == H5T_SGN_NONE;
  return stored;
}

/// Whether PyTables describes its own dataset by the attribute; it would take a copy with it for a table.
bool is_of_pytables(const std::string& name) {
  return name == "CLASS" || name == "VERSION" || name == "NROWS" || name == "EXTDIM" || name == "FLAVOR" ||
         (name.starts_with("FIELD_") && (name.ends_with("_NAME") || name.ends_with("_FILL")));
}

/// Whether HDF5's dimension scales, netCDF-4 or PyTables use the attribute internally.
bool is_internal(const std::string& name, const Attributes& all) {
  const auto kind = all.find("CLASS");
  const bool scale = kind != all.end() && kind->second == Attribute("DIMENSION_SCALE");
  if (kind != all.end() && !scale && all.contains("VERSION")) return is_of_hdf5(name) || is_of_pytables(name);
  return is_of_hdf5(name) || (scale && (name == "CLASS" || name == "NAME"));
}

/// Returns the dataset's type for numbers that CF requires in this type, if they fit.
Handle own_type(hid_t dataset, const std::string& name, const Attribute& value) {
  Handle type(H5Dget_type(dataset));
  const auto kind = H5Tget_class(type.get());
  const auto element = kind == H5T_INTEGER || kind == H5T_FLOAT ? element_type(type.get()) : std::nullopt;
  return element && gets_its_type(name, value, element->dtype) ? std::move(type) : Handle();
}

struct NewAttribute {
  hid_t dataset;
  const std::string& name;
  const std::string& what;
  const char* op;
  Handle own = {};  ///< type in the file, if not the usual one

  void write(hid_t type, const Handle& space, const void* from) const {
    const auto in_file = own ? own.get() : type;
    const Handle made(H5Acreate2(dataset, name.c_str(), in_file, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    if (!made || H5Awrite(made.get(), type, from) < 0)
      raise<ValueError>(
          op, "got attribute \"{}\" of {}, which HDF5 does not take ({}); expected a name of its own and room", name,
          what, innermost_error());
  }
  void operator()(const std::string& text) const {
    const auto* const begin = text.c_str();
    write(text_type().get(), Handle(H5Screate(H5S_SCALAR)), &begin);
  }
  void operator()(std::int64_t number) const { write(H5T_NATIVE_INT64, Handle(H5Screate(H5S_SCALAR)), &number); }
  void operator()(double number) const { write(H5T_NATIVE_DOUBLE, Handle(H5Screate(H5S_SCALAR)), &number); }
  void operator()(float number) const { write(H5T_NATIVE_FLOAT, Handle(H5Screate(H5S_SCALAR)), &number); }
  void operator()(const std::vector<std::string>& texts) const {
    std::vector<const char*> begins;
    for (const auto& text : texts) begins.push_back(text.c_str());
    list(text_type().get(), begins);
  }
  void operator()(const std::vector<std::int64_t>& numbers) const { list(H5T_NATIVE_INT64, numbers); }
  void operator()(const std::vector<double>& numbers) const { list(H5T_NATIVE_DOUBLE, numbers); }

 private:
  template <class T>
  void list(hid_t type, const std::vector<T>& all) const {
    const hsize_t count = all.size();
    write(type, Handle(H5Screate_simple(1, &count, nullptr)), all.data());
  }
};

}  // namespace

Annotations read_annotations(hid_t dataset, const std::string& what, const char* op) {
  Annotations found;
  for (int i = 0; i < H5Aget_num_attrs(dataset); ++i) {
    Handle id(
        H5Aopen_by_idx(dataset, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT));
    if (!id) raise<IoError>(op, "got an attribute of {} that cannot be opened; expected a complete file", what);
    const auto name = attribute_name(id.get());
    if (auto value = read_attribute(std::move(id), {name, what, op})) found.attributes.emplace(name, std::move(*value));
  }
  if (const auto named = found.attributes.extract(labels))
    if (const auto* texts = std::get_if<std::vector<std::string>>(&named.mapped())) found.dimension_names = *texts;
  const auto all = found.attributes;
  std::erase_if(found.attributes, [&](const auto& each) { return is_internal(each.first, all); });
  return found;
}

Decoding read_decoding(const Dataset& dataset, const std::string& path, const char* op) {
  const auto what = formatted("a dataset of \"{}\"", path);
  Attributes found;
  for (const auto known : decoding_names) {
    const std::string name(known);
    if (H5Aexists(dataset.id.get(), name.c_str()) <= 0) continue;
    Handle id(H5Aopen(dataset.id.get(), name.c_str(), H5P_DEFAULT));
    if (!id) raise<IoError>(op, "got an attribute of {} that cannot be opened; expected a complete file", what);
    if (auto value = read_attribute(std::move(id), {name, what, op})) found.emplace(name, std::move(*value));
  }
  return decoding_of(found, stored_numbers(dataset), what, op);
}

void write_annotations(hid_t dataset, const Annotations& annotations, const std::string& what, const char* op) {
  for (const auto& [name, value] : annotations.attributes)
    std::visit(NewAttribute{dataset, name, what, op, own_type(dataset, name, value)}, value);
  if (!annotations.dimension_names.empty()) NewAttribute{dataset, labels, what, op}(annotations.dimension_names);
}

}  // namespace heatpp::io::detail
