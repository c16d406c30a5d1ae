#include <heatpp/comm/detail/progress/stack.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <backtrace.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace heatpp::detail {
namespace {

/// A call on the stack, with what is known of it.
struct Frame {
  bool ours = false;
  std::string text;
};

void ignore(void*, const char*, int) {}

backtrace_state* state() {
  static auto* made = backtrace_create_state(nullptr, 1, ignore, nullptr);
  return made;
}

/// Whether a name is in a namespace of the library, or of libraries that it calls or that call it.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 5> spaces = {"6heatpp", "St", "9__gnu_cxx", "2at", "3c10"};
  if (!name.starts_with("_Z")) return false;
  const auto within = name.substr(std::min(name.find_first_not_of("ZNK", 2), name.size()));
  return std::ranges::any_of(spaces, [&](auto space) { return within.starts_with(space); });
}

// The part of a name in front of the parameters tells functions apart.
constexpr std::size_t longest_name = 120;

std::string readable(const char* name) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(abi::__cxa_demangle(name, nullptr, nullptr, &failed),
                                                          &std::free);
  return failed ? name : whole.get();
}

/// Finds the function of a return address, or its place in the file, if its line is unknown.
void name_function(Frame& frame, std::uintptr_t pc, const Dl_info& object) {
  const auto take = [](void* into, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
    if (symbol) *static_cast<std::string*>(into) = symbol;
  };
  std::string name;
  backtrace_syminfo(state(), pc, take, ignore, &name);
  frame.ours = is_ours(name);
  if (!name.empty()) frame.text = readable(name.c_str()).substr(0, longest_name);
  else if (object.dli_fname)
    frame.text = formatted("{}+{:#x}", object.dli_fname, pc - reinterpret_cast<std::uintptr_t>(object.dli_fbase));
}

/// Finds the line of a return address, in the innermost inlined function that is not ours.
void find_line(Frame& frame, std::uintptr_t pc) {
  const auto take = [](void* into, std::uintptr_t, const char* file, int line, const char* function) {
    if (!file || (function && is_ours(function))) return 0;
    static_cast<Frame*>(into)->text = formatted("{}:{}", file, line);
    return 1;
  };
  backtrace_pcinfo(state(), pc, take, ignore, &frame);
}

Frame look_up(std::uintptr_t pc) {
  Dl_info object = {};
  if (dladdr(reinterpret_cast<void*>(pc), &object) && object.dli_fname) {
    const auto file = std::filesystem::path(object.dli_fname).filename().string();
    if (file.starts_with("libheatpp") || file.starts_with("libtorch") || file.starts_with("libc10"))
      return {.ours = true, .text = {}};
  }
  Frame frame;
  name_function(frame, pc, object);
  if (!frame.ours) find_line(frame, pc);
  return frame;
}

}  // namespace

std::string outside_of_library() {
  static auto& known = *new std::unordered_map<std::uintptr_t, Frame>();  // programs call from few places, but often
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  std::string found;
  const auto take = [](void* into, std::uintptr_t pc) {
    const auto [entry, is_new] = known.try_emplace(pc);
    if (is_new) entry->second = look_up(pc);
    if (entry->second.ours) return 0;
    *static_cast<std::string*>(into) = entry->second.text;
    return 1;
  };
  backtrace_simple(state(), 1, take, ignore, &found);
  return found;
}

}  // namespace heatpp::detail
