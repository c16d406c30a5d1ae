#include <heatpp/comm/device/cuda/library.hpp>

#include <dlfcn.h>

#include <heatpp/comm/detail/raise.hpp>

#include <cstdlib>

namespace heatpp::device {

Library::Library(const char* variable, std::initializer_list<const char*> names) : first_name_(*names.begin()) {
  const char* const given = std::getenv(variable);
  if (given && *given) {
    first_name_ = given;
    handle_ = ::dlopen(given, RTLD_NOW | RTLD_LOCAL);
    return;
  }
  for (const char* name : names)
    if (!handle_) handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void* Library::find(const char* name) const {
  void* const found = handle_ ? ::dlsym(handle_, name) : nullptr;
  if (!found)
    detail::raise<CommError>("device", "got no function {} in {}; expected the library to have it", name, first_name_);
  return found;
}

}  // namespace heatpp::device
