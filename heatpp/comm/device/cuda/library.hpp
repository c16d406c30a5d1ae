#pragma once

#include <initializer_list>

namespace heatpp::device {

/// A shared library that is loaded when it is first asked for: programs that leave devices alone start without it.
class Library {
 public:
  /// The library that the environment variable names, else the first of `names` that the system finds.
  Library(const char* variable, std::initializer_list<const char*> names);
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// Throws CommError where the library is missing or has no such function.
  template <class F>
  [[nodiscard]] F function(const char* name) const {
    return reinterpret_cast<F>(find(name));
  }

 private:
  [[nodiscard]] void* find(const char* name) const;

  const char* first_name_;
  void* handle_ = nullptr;
};

}  // namespace heatpp::device

/// The function of that name in a library, as its header declares it.
#define HEATPP_FROM(library, name)                                                  \
  ([] {                                                                             \
    static const auto loaded = (library).template function<decltype(&name)>(#name); \
    return loaded;                                                                  \
  }())
