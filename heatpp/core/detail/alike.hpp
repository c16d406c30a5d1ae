#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns shape and cut, for messages.
[[nodiscard]] std::string layout_text(const Layout& layout);

/// If HEATPP_DEBUG=collectives is set, throws CommError on all ranks if the dtype, shape or cut of `x` differs between
/// them. For functions whose messages would not show that. Does nothing otherwise, and for arrays that are not cut.
void expect_alike(const char* op, const DNDarray& x);

/// A setting that has to be equal on all ranks, as text.
struct Setting {
  std::string name;
  std::string value;
};

/// Throws on all ranks what `check` throws on any; CommError if ranks are in calls of other names; and ValueError if
/// one of the settings differs between ranks. Each call has equally many settings. Collective: an all-reduce of 16
/// bytes.
void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check);

}  // namespace heatpp::detail
