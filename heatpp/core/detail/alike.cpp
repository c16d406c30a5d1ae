#include <heatpp/core/detail/alike.hpp>

#include <fmt/ranges.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/bounds.hpp>

#include <sstream>

namespace heatpp::detail {
namespace {

/// Returns the call and its settings in one text, with a zero behind each.
std::string text_of(const char* op, const std::vector<Setting>& settings) {
  std::string text = op;
  text.push_back('\0');
  for (const auto& setting : settings) text.append(setting.value).push_back('\0');
  return text;
}

/// Throws if rank 0's text differs from that of this rank.
void compare(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
             const std::string& theirs) {
  std::istringstream texts(theirs);
  std::string text;
  std::getline(texts, text, '\0');
  if (text != op)
    raise<CommError>(op, "got a call of {} on rank 0 and of {} on rank {}; expected the same on all ranks", text, op,
                     comm.rank());
  for (const auto& [name, mine] : settings) {
    std::getline(texts, text, '\0');
    if (text != mine)
      raise<ValueError>(op, "got {} {} on rank 0 and {} on rank {}; expected the same on all ranks", name, text, mine,
                        comm.rank());
  }
}

}  // namespace

namespace {

std::string uneven_text(const Layout& layout) {
  std::string text;
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (const auto cut = layout.cut_along(axis); !cut.is_even())
      text += formatted(", cut along axis {} at {}", axis, fmt::join(cut.offsets(), ", "));
  return text;
}

}  // namespace

std::string layout_text(const Layout& layout) {
  const auto shape = to_string(layout.shape());
  if (layout.is_grid()) return formatted("{} on a {}", shape, cut_text(layout)) + uneven_text(layout);
  if (!layout.split()) return shape;
  if (layout.is_balanced()) return formatted("{} cut evenly along axis {}", shape, *layout.split());
  return formatted("{} cut along axis {} at {}", shape, *layout.split(), fmt::join(layout.offsets(), ", "));
}

void expect_alike(const char* op, const DNDarray& x) {
  if (x.layout().is_cut())
    expect_alike(x.comm(), op, [&] { return formatted("{} {}", name(x.dtype()), layout_text(x.layout())); });
}

void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check) {
  const auto text = text_of(op, settings);
  const auto bounds = bounds_or_error(comm, 1, [&] {
    check();
    return std::vector{static_cast<std::int64_t>(std::hash<std::string>()(text))};
  });
  if (bounds.equal(0)) return;
  const auto theirs = text_of_rank_0(comm, text);
  all_or_none(comm, [&] { compare(op, comm, settings, theirs); });
}

}  // namespace heatpp::detail
