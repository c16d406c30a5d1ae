#pragma once

#include <functional>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>

namespace heatpp::io::detail {

/// What is to be saved, and in which format.
struct NewVariable {
  const char* op;
  const Shape& shape;
  Dtype dtype;
  const Communicator& comm;
  const std::string& name;
  const SaveNetcdfOptions& options;
  NetcdfFormat format = NetcdfFormat::netcdf4;
};

/// The format of what is saved at `path`: of a file to extend its own. Collective. Throws ValueError on all ranks where
/// another is asked for.
[[nodiscard]] NetcdfFormat netcdf_format(const char* op, const std::string& path, const SaveNetcdfOptions& options,
                                         const Communicator& comm);

/// Throws TypeError and ValueError for what the format cannot hold. Local.
void check_variable(const NewVariable& x);

/// Makes the variable and the groups and dimensions that it needs, in a file whose definitions are open, or finds the
/// one to replace. Throws TypeError and ValueError for what the file has otherwise, and what its format refuses.
[[nodiscard]] NetcdfVariable define(const NewVariable& x, int file, const SaveJob& job);
/// Ends the definitions. Throws as this.
void end_definitions(const NewVariable& x, int file, const SaveJob& job);

/// Writes a piece of the array that begins at row `begin`. Collective.
using WriteAt = std::function<void(const DNDarray&, std::int64_t begin)>;

/// Makes the variable in a file of a classic format and writes the pieces that `write` hands on. Collective. Throws on
/// all ranks.
Transfer write_classic(const NewVariable& x, const SaveJob& job, const std::function<void(const WriteAt&)>& write);

}  // namespace heatpp::io::detail
