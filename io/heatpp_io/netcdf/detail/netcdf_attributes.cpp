#include <heatpp_io/netcdf/detail/netcdf_attributes.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr std::size_t most_elements = 8 << 20;
struct StoredAttribute {
  const NetcdfVariable& variable;
  const std::string& name;
  const std::string& path;
  const char* op;
  int type = NC_NAT;
  std::size_t count = 0;

  template <class T>
  [[nodiscard]] std::vector<T> all(int (*get)(int, int, const char*, T*)) const {
    std::vector<T> found(count);
    check_netcdf(get(variable.group, variable.id, name.c_str(), found.data()), path, op);
    return found;
  }
};

template <class T>
Attribute one_or_list(std::vector<T> all) {
  if (all.size() == 1) return all[0];
  return all;
}

Attribute texts(const StoredAttribute& from) {
  auto found = from.all<char*>(nc_get_att_string);
  std::vector<std::string> all;
  for (const auto* text : found) all.push_back(in_utf8(text ? text : ""));
  nc_free_string(found.size(), found.data());
  return one_or_list(std::move(all));
}

Attribute text(const StoredAttribute& from) {
  const auto found = from.all<char>(nc_get_att_text);
  return in_utf8(std::string(found.begin(), std::ranges::find(found, '\0')));
}

/// Unsigned numbers for which int64 has no room become doubles.
Attribute whole(const StoredAttribute& from) {
  std::vector<long long> found(from.count);
  const auto status = nc_get_att_longlong(from.variable.group, from.variable.id, from.name.c_str(), found.data());
  if (status == NC_ERANGE) return one_or_list(from.all<double>(nc_get_att_double));
  check_netcdf(status, from.path, from.op);
  return one_or_list(std::vector<std::int64_t>(found.begin(), found.end()));
}

std::optional<Attribute> value_of(const StoredAttribute& from) {
  if (from.type == NC_CHAR) return text(from);
  if (from.count == 0) return std::nullopt;
  if (from.type == NC_STRING) return texts(from);
  if (from.type == NC_FLOAT && from.count == 1) return from.all<float>(nc_get_att_float)[0];
  if (from.type == NC_FLOAT || from.type == NC_DOUBLE) return one_or_list(from.all<double>(nc_get_att_double));
  if (is_netcdf_number(from.type)) return whole(from);
  return std::nullopt;  // a type that users define
}

struct NewAttribute {
  const NetcdfVariable& to;
  const char* name;
  NetcdfFormat format;
  bool own_type;  ///< whether it gets the variable's type

  int operator()(const std::string& text) const {
    return nc_put_att_text(to.group, to.id, name, text.size(), text.c_str());
  }
  int operator()(const std::vector<std::string>& texts) const {
    std::vector<const char*> begins;
    for (const auto& text : texts) begins.push_back(text.c_str());
    return nc_put_att_string(to.group, to.id, name, begins.size(), begins.data());
  }
  int operator()(std::int64_t number) const { return (*this)(std::vector{number}); }
  int operator()(double number) const { return (*this)(std::vector{number}); }
  int operator()(float number) const { return nc_put_att_float(to.group, to.id, name, type(NC_FLOAT), 1, &number); }
  int operator()(const std::vector<double>& numbers) const {
    return nc_put_att_double(to.group, to.id, name, type(NC_DOUBLE), numbers.size(), numbers.data());
  }
  int operator()(const std::vector<std::int64_t>& numbers) const {
    using Int = std::numeric_limits<int>;
    const bool narrow = std::ranges::all_of(numbers, [](std::int64_t x) { return x >= Int::min() && x <= Int::max(); });
    const bool wide = format == NetcdfFormat::netcdf4 || format == NetcdfFormat::cdf5;
    const std::vector<long long> same(numbers.begin(), numbers.end());
    return nc_put_att_longlong(to.group, to.id, name,
                               type(narrow ? NC_INT
                                    : wide ? NC_INT64
                                           : NC_DOUBLE),
                               same.size(), same.data());
  }

 private:
  [[nodiscard]] int type(int usual) const {
    if (own_type) nc_inq_vartype(to.group, to.id, &usual);
    return usual;
  }
};

void read_attribute(StoredAttribute from, Attributes& to) {
  const auto& [group, id] = from.variable;
  check_netcdf(nc_inq_att(group, id, from.name.c_str(), &from.type, &from.count), from.path, from.op);
  const auto name = in_utf8(from.name);
  if (from.count >= most_elements)
    raise<IoError>(from.op, "got {} elements in {} of \"{}\"; expected less than {}", from.count, name, from.path,
                   most_elements);
  if (auto value = value_of(from)) to.emplace(name, std::move(*value));
}

}  // namespace

Attributes read_attributes(const NetcdfVariable& variable, const std::string& path, const char* op) {
  int count = 0;
  check_netcdf(nc_inq_varnatts(variable.group, variable.id, &count), path, op);
  Attributes found;
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> begin{};
    check_netcdf(nc_inq_attname(variable.group, variable.id, i, begin.data()), path, op);
    const std::string name(begin.data());
    read_attribute({variable, name, path, op}, found);
  }
  return found;
}

Attributes read_decoding(const NetcdfVariable& variable, const std::string& path, const char* op) {
  Attributes found;
  for (const auto known : decoding_names) {
    const std::string name(known);
    int ignored = 0;
    if (nc_inq_attid(variable.group, variable.id, name.c_str(), &ignored) == NC_NOERR)
      read_attribute({variable, name, path, op}, found);
  }
  return found;
}

void write_attributes(const NetcdfVariable& variable, const Attributes& attributes, const AttributePlace& place,
                      const std::string& path, const char* op) {
  for (const auto& [name, value] : attributes) {
    const bool own_type = gets_its_type(name, value, place.dtype);
    const auto status = std::visit(NewAttribute{variable, name.c_str(), place.format, own_type}, value);
    if (status != NC_NOERR)
      raise<ValueError>(op,
                        "got attribute \"{}\" for \"{}\", of which netCDF says \"{}\"; expected what its format has",
                        name, path, nc_strerror(status));
  }
}

}  // namespace heatpp::io::detail
