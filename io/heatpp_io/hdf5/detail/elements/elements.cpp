#include <heatpp_io/hdf5/detail/elements/elements.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <vector>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr int most_listed = 32;
constexpr std::size_t most_nested = 16;

/// PyTables writes bool as bit fields, and marks its datasets by attributes.
BitFields bits_of(hid_t dataset) {
  const bool by_pytables = H5Aexists(dataset, "CLASS") > 0 && H5Aexists(dataset, "VERSION") > 0;
  return by_pytables ? BitFields::booleans : BitFields::numbers;
}

bool are_records(hid_t type) { return H5Tget_class(type) == H5T_COMPOUND && !element_type(type); }

std::string member_name(hid_t type, int index) {
  char* const text = H5Tget_member_name(type, static_cast<unsigned>(index));
  std::string name(text ? text : "");
  H5free_memory(text);
  return name;
}

/// Returns the number type of small arrays, and sets `inner` to their extents.
Handle number_in(Handle type, Shape& inner) {
  for (std::size_t depth = 0; H5Tget_class(type.get()) == H5T_ARRAY && depth < most_nested; ++depth) {
    const int ndim = H5Tget_array_ndims(type.get());
    std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(0, ndim)));
    H5Tget_array_dims2(type.get(), extents.data());
    inner.insert(inner.end(), extents.begin(), extents.end());
    type = Handle(H5Tget_super(type.get()));
  }
  return type;
}

/// Returns what a field is, for messages: "float32", "strings", or for small arrays "float32 in arrays of (3,)".
std::string kind_of(Handle type, BitFields bits) {
  Shape inner;
  const auto part = number_in(std::move(type), inner);
  const auto number = element_type(part.get(), bits);
  const auto kind = number ? std::string(name(number->dtype)) : type_name(part.get());
  return inner.empty() ? kind : formatted("{} in arrays of {}", kind, to_string(inner));
}

/// Returns the fields for messages: "lon" (float32), "name" (strings).
std::string listing_of_fields(hid_t type, BitFields bits) {
  std::string text;
  const int count = H5Tget_nmembers(type);
  for (int i = 0; i < std::min(count, most_listed); ++i) {
    Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)));
    text += formatted("{}\"{}\" ({})", i ? ", " : "", member_name(type, i), kind_of(std::move(member), bits));
  }
  return count > most_listed ? formatted("{} and {} more", text, count - most_listed) : text;
}

/// The path to a field of records: its name, or several names for records in records.
struct Field {
  Handle type;
  std::vector<std::string> way;
};

/// Returns nothing if the records have no such field. A field's own name may contain a slash.
std::optional<Field> field_of(hid_t records, const std::string& field, std::size_t depth = 0) {
  if (H5Tget_class(records) != H5T_COMPOUND || depth == most_nested) return std::nullopt;
  for (auto end = field.size(); end != std::string::npos && end > 0; end = field.rfind('/', end - 1)) {
    const auto first = field.substr(0, end);
    const auto index = H5Tget_member_index(records, first.c_str());
    if (index < 0) continue;
    Handle member(H5Tget_member_type(records, static_cast<unsigned>(index)));
    if (end == field.size()) return Field{std::move(member), {first}};
    if (auto inner = field_of(member.get(), field.substr(end + 1), depth + 1)) {
      inner->way.insert(inner->way.begin(), first);
      return inner;
    }
  }
  return std::nullopt;
}

/// Returns a type of records with only this field, which HDF5 can read.
Handle alone(const std::vector<std::string>& way, Handle memory) {
  for (auto name = way.rbegin(); name != way.rend(); ++name) {
    Handle record(H5Tcreate(H5T_COMPOUND, H5Tget_size(memory.get())));
    H5Tinsert(record.get(), name->c_str(), 0, memory.get());
    memory = std::move(record);
  }
  return memory;
}

/// Returns the type of the small array of a number in memory.
Handle array_of(Handle memory, const Shape& inner) {
  if (inner.empty()) return memory;
  const std::vector<hsize_t> extents(inner.begin(), inner.end());
  return Handle(H5Tarray_create2(memory.get(), static_cast<unsigned>(extents.size()), extents.data()));
}

/// The type of elements that are not read.
struct Refused {
  hid_t type;
  BitFields bits;
};
[[noreturn]] void refuse(const Refused& elements, const std::string& field, const std::string& what, const char* op) {
  const auto [type, bits] = elements;
  if (!are_records(type))
    raise<IoError>(op, "got {}, which holds {}; expected numbers: read it with h5py, and save the numbers in it", what,
                   type_name(type));
  const auto has = listing_of_fields(type, bits);
  if (field.empty())
    raise<IoError>(op, "got {}, which holds records of {}; expected the option field with the name of one", what, has);
  raise<IoError>(op, "got the field \"{}\" of {}, which holds records of {}; expected the name of one", field, what,
                 has);
}

}  // namespace

Elements elements_of(hid_t dataset, const std::string& field, const std::string& what, const char* op) {
  Handle stored(H5Dget_type(dataset));
  const auto bits = bits_of(dataset);
  std::vector<std::string> way;
  if (!field.empty()) {
    auto chosen = field_of(stored.get(), field);
    if (!chosen && !are_records(stored.get()))
      raise<IoError>(op, "got the field \"{}\" of {}, which holds no records; expected no field", field, what);
    if (!chosen) refuse({stored.get(), bits}, field, what, op);
    stored = std::move(chosen->type);
    way = std::move(chosen->way);
  }
  Elements found;
  const auto number_type = number_in(std::move(stored), found.inner);
  const auto number = element_type(number_type.get(), bits);
  if (!number) refuse({number_type.get(), bits}, {}, what, op);
  found.number = *number;
  found.memory = alone(way, array_of(memory_type(*number, number_type.get()), found.inner));
  return found;
}

bool has_fields(hid_t dataset) { return are_records(Handle(H5Dget_type(dataset)).get()); }

}  // namespace heatpp::io::detail
