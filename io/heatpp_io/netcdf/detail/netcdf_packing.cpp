#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/netcdf/detail/netcdf_packing.hpp>

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace heatpp::io::detail {
namespace {

constexpr std::size_t most_numbers = 1 << 16;  // of an attribute

struct Attribute {
  int type = NC_NAT;
  std::vector<double> numbers;
};

/// nullopt where the variable has none of the name that holds numbers.
std::optional<Attribute> attribute(const NetcdfVariable& variable, const char* name, const std::string& path,
                                   const char* op) {
  Attribute found;
  std::size_t length = 0;
  if (nc_inq_att(variable.group, variable.id, name, &found.type, &length) != NC_NOERR || !netcdf_element(found.type))
    return std::nullopt;
  if (length > most_numbers)
    heatpp::detail::raise<IoError>(op, "got {} numbers in {} of \"{}\"; expected at most {}", length, name, path,
                                   most_numbers);
  found.numbers.resize(length);
  check_netcdf(nc_get_att_double(variable.group, variable.id, name, found.numbers.data()), path, op);
  return found;
}

void take(const std::optional<Attribute>& found, const char* name, double& number, NetcdfPacking& packing,
          const std::string& path, const char* op) {
  if (!found) return;
  if (found->numbers.size() != 1)
    heatpp::detail::raise<IoError>(op, "got {} numbers in {} of \"{}\"; expected 1", found->numbers.size(), name, path);
  number = found->numbers[0];
  packing.packed = true;
  packing.wide = packing.wide || found->type != NC_FLOAT;
}

}  // namespace

NetcdfPacking read_packing(const NetcdfVariable& variable, const std::string& path, const char* op) {
  NetcdfPacking packing;
  take(attribute(variable, "scale_factor", path, op), "scale_factor", packing.scale, packing, path, op);
  take(attribute(variable, "add_offset", path, op), "add_offset", packing.offset, packing, path, op);
  for (const auto* name : {"_FillValue", "missing_value"})
    if (const auto found = attribute(variable, name, path, op))
      std::ranges::copy_if(found->numbers, std::back_inserter(packing.missing),
                           [](double x) { return !std::isnan(x); });
  return packing;
}

void unpack(const NetcdfPacking& packing, at::Tensor numbers) {
  at::Tensor missing;
  for (const auto value : packing.missing) {
    const auto here = at::eq(numbers, value);
    missing = missing.defined() ? at::logical_or(missing, here) : here;
  }
  if (packing.packed) numbers.mul_(packing.scale).add_(packing.offset);
  if (missing.defined()) numbers.masked_fill_(missing, NAN);
}

}  // namespace heatpp::io::detail
