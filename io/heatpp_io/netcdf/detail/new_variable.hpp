#pragma once

#include <functional>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>

namespace heatpp::io::detail {

/// What is saved, and in which format.
struct NewVariable {
  const char* op;
  const Shape& shape;
  Dtype dtype;
  const Communicator& comm;
  const std::string& name;
  const SaveNetcdfOptions& options;
  NetcdfFormat format = NetcdfFormat::netcdf4;
};

/// Returns the format of a file that is saved at `path`; a file that is extended keeps its own. Collective. Throws
/// ValueError on all ranks if the options ask for another one.
[[nodiscard]] NetcdfFormat netcdf_format(const char* op, const std::string& path, const SaveNetcdfOptions& options,
                                         const Communicator& comm);

/// Throws TypeError and ValueError for what the format cannot store. Local.
void check_variable(const NewVariable& x);

/// Makes the variable with its groups and dimensions in a file in define mode, or finds the one to replace. Throws
/// TypeError and ValueError if the file has them in another form, and for what its format refuses.
[[nodiscard]] NetcdfVariable define(const NewVariable& x, int file, const SaveJob& job);
/// Ends the define mode. Throws as define.
void end_definitions(const NewVariable& x, int file, const SaveJob& job);

/// Writes a piece of the array that begins at row `begin`. Collective.
using WriteAt = std::function<void(const DNDarray&, std::int64_t begin)>;

/// Makes the variable in a file of a classic format and writes the pieces that `write` passes on. Collective. Throws on
/// all ranks.
Transfer write_classic(const NewVariable& x, const SaveJob& job, const std::function<void(const WriteAt&)>& write);

}  // namespace heatpp::io::detail
