#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/subfiling.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

bool supports_subfiling() { return false; }

void detail::check_subfiling(const std::string& what, const char* op) {
  heatpp::detail::raise<NotCompiled>(op,
                                     "got {}, and HDF5 {}.{}.{}, which has no subfiling driver; expected HDF5 1.14 or "
                                     "newer, built with HDF5_ENABLE_SUBFILING_VFD",
                                     what, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

detail::Handle detail::subfiling_access(const Communicator&, int) { return {}; }

}  // namespace heatpp::io
