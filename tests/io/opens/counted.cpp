#include "counted.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {

std::string counted_folder;
std::atomic<bool> is_counting = false;
std::atomic<std::int64_t> opened = 0;

void see(const char* path, int flags = 0) {
  if (!is_counting || (flags & O_DIRECTORY) != 0) return;
  if (std::strncmp(path, counted_folder.c_str(), counted_folder.size()) == 0) ++opened;
}

/// Returns the C library's function of this name.
template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));  // as POSIX says
}

mode_t mode_in(int flags, std::va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

CountedOpens::CountedOpens(std::string folder) {
  counted_folder = std::move(folder);
  opened = 0;
  is_counting = true;
}
CountedOpens::~CountedOpens() { is_counting = false; }
std::int64_t CountedOpens::count() const { return opened; }

#define COUNTED_OPEN(name)                                                \
  extern "C" int name(const char* path, int flags, ...) {                 \
    std::va_list arguments;                                               \
    va_start(arguments, flags);                                           \
    const auto mode = mode_in(flags, arguments);                          \
    va_end(arguments);                                                    \
    see(path, flags);                                                     \
    static auto* const real = next<int(const char*, int, mode_t)>(#name); \
    return real(path, flags, mode);                                       \
  }
#define COUNTED_OPENAT(name)                                                   \
  extern "C" int name(int folder, const char* path, int flags, ...) {          \
    std::va_list arguments;                                                    \
    va_start(arguments, flags);                                                \
    const auto mode = mode_in(flags, arguments);                               \
    va_end(arguments);                                                         \
    see(path, flags);                                                          \
    static auto* const real = next<int(int, const char*, int, mode_t)>(#name); \
    return real(folder, path, flags, mode);                                    \
  }
#define COUNTED_FOPEN(name)                                                 \
  extern "C" FILE* name(const char* path, const char* mode) {               \
    see(path);                                                              \
    static auto* const real = next<FILE*(const char*, const char*)>(#name); \
    return real(path, mode);                                                \
  }
#define COUNTED_CHECKED_OPEN(name)                                \
  extern "C" int name(const char* path, int flags) {              \
    see(path, flags);                                             \
    static auto* const real = next<int(const char*, int)>(#name); \
    return real(path, flags);                                     \
  }

COUNTED_OPEN(open)
COUNTED_OPEN(open64)
COUNTED_OPENAT(openat)
COUNTED_OPENAT(openat64)
COUNTED_FOPEN(fopen)
COUNTED_FOPEN(fopen64)
COUNTED_CHECKED_OPEN(__open_2)
COUNTED_CHECKED_OPEN(__open64_2)
