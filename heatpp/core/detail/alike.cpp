#include <fmt/ranges.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/core/detail/alike.hpp>

namespace heatpp::detail {

std::string layout_text(const Layout& layout) {
  return layout.split() ? formatted("{} cut along axis {} at {}", to_string(layout.shape()), *layout.split(),
                                    fmt::join(layout.offsets(), ", "))
                        : to_string(layout.shape());
}

void expect_alike(const char* op, const DNDarray& x) {
  if (x.split())
    expect_alike(x.comm(), op, [&] { return formatted("{} {}", name(x.dtype()), layout_text(x.layout())); });
}

}  // namespace heatpp::detail
