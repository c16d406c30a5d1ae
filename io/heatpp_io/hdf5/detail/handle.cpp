#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

namespace detail {

Hdf5Turn::Hdf5Turn() : lock_(hdf5_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Hdf5Turn::~Hdf5Turn() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }

std::string innermost_error() {
  std::string text;
  const auto take = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 1;  // the first record is the innermost
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace detail
}  // namespace heatpp::io
