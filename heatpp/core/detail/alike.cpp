#include <fmt/ranges.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/bounds.hpp>

namespace heatpp::detail {
namespace {

std::vector<std::int64_t> hashes_of(const std::vector<Setting>& settings) {
  std::vector<std::int64_t> hashes;
  for (const auto& setting : settings)
    hashes.push_back(static_cast<std::int64_t>(std::hash<std::string>()(setting.value)));
  return hashes;
}

}  // namespace

std::string layout_text(const Layout& layout) {
  return layout.split() ? formatted("{} cut along axis {} at {}", to_string(layout.shape()), *layout.split(),
                                    fmt::join(layout.offsets(), ", "))
                        : to_string(layout.shape());
}

void expect_alike(const char* op, const DNDarray& x) {
  if (x.split())
    expect_alike(x.comm(), op, [&] { return formatted("{} {}", name(x.dtype()), layout_text(x.layout())); });
}

void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check) {
  const auto bounds = bounds_or_error(comm, settings.size(), [&] {
    check();
    return hashes_of(settings);
  });
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (bounds.equal(i)) continue;
    const auto& [name, mine] = settings[i];
    const auto theirs = text_of_rank_0(comm, mine);
    all_or_none(comm, [&] {
      if (mine != theirs)
        raise<ValueError>(op, "got {} {} on rank 0 and {} on rank {}; expected the same on all ranks", name, theirs,
                          mine, comm.rank());
    });
  }
}

}  // namespace heatpp::detail
