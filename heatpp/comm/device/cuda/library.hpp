#pragma once

#include <initializer_list>

namespace heatpp::device {

/// A shared library that is loaded at the first use, so that programs without devices start without it.
class Library {
 public:
  /// Names the library: that of the environment variable, else the first of `names` that the system finds.
  Library(const char* variable, std::initializer_list<const char*> names);
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// Throws CommError if the library is missing or has no such function.
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

/// Names the function in a library, with the type that its header declares.
#define HEATPP_FROM(library, name)                                                  \
  ([] {                                                                             \
    static const auto loaded = (library).template function<decltype(&name)>(#name); \
    return loaded;                                                                  \
  }())
