#include <heatpp_io/detail/handle.hpp>

namespace heatpp::io::detail {

SilentErrors::SilentErrors() {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
SilentErrors::~SilentErrors() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }

std::string innermost_error() {
  std::string text;
  const auto take = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 1;  // the first record is the innermost
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace heatpp::io::detail
