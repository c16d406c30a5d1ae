#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

namespace heatpp::io {
namespace {

[[noreturn]] void refuse(const char* op) {
  heatpp::detail::raise<NotCompiled>(
      op, "got a heatpp without netCDF; expected one built with its parallel library (Debian: libnetcdf-mpi-dev)");
}

}  // namespace

bool supports_netcdf() { return false; }

DNDarray load_netcdf(const Source&, const std::string&, const LoadOptions&) { refuse("load_netcdf"); }

Rows netcdf_rows(const Source&, const std::string&, const StoredRowsOptions&) { refuse("netcdf_rows"); }

void save_netcdf(const DNDarray&, const std::filesystem::path&, const std::string&, const SaveNetcdfOptions&) {
  refuse("save_netcdf");
}

void detail::save_rows_netcdf(const RowsToSave&, const std::filesystem::path&, const SaveOptions&) {
  refuse("save_netcdf");
}

detail::OpenArray detail::open_netcdf(const std::string&, const std::string&) { refuse("load_netcdf"); }

detail::Annotations detail::netcdf_annotations(const std::string&, const std::string&) { refuse("load_netcdf"); }

std::vector<std::string> detail::netcdf_names(const std::string&) { refuse("load_netcdf"); }

}  // namespace heatpp::io
