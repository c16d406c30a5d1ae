#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Shape and cut, for messages.
[[nodiscard]] std::string layout_text(const Layout& layout);

/// With HEATPP_DEBUG=collectives, throws CommError on all ranks where the dtype, shape or cut of `x` differs between
/// them. For functions whose messages would not show that. Does nothing otherwise, and for arrays that are not cut.
void expect_alike(const char* op, const DNDarray& x);

/// What has to be the same on all ranks, as a text.
struct Setting {
  std::string name;
  std::string value;
};

/// Throws on all ranks what `check` throws on any, CommError where ranks are in calls of other names, and ValueError
/// where one of the settings, of which each call has as many, differs between ranks. Collective: an all-reduce of 16
/// bytes.
void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check);

}  // namespace heatpp::detail
