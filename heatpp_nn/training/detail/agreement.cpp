#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

std::vector<std::int64_t> hashes_of(const std::vector<Setting>& settings) {
  std::vector<std::int64_t> hashes;
  for (const auto& setting : settings)
    hashes.push_back(static_cast<std::int64_t>(std::hash<std::string>()(setting.value)));
  return hashes;
}

}  // namespace

void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check) {
  const auto bounds = heatpp::detail::bounds_or_error(comm, settings.size(), [&] {
    check();
    return hashes_of(settings);
  });
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (bounds.equal(i)) continue;
    const auto& [name, mine] = settings[i];
    const auto theirs = heatpp::detail::text_of_rank_0(comm, mine);
    all_or_none(comm, [&] {
      if (mine != theirs)
        raise<ValueError>(op, "got {} {} on rank 0 and {} on rank {}; expected the same on all ranks", name, theirs,
                          mine, comm.rank());
    });
  }
}

void check_same_ranks(const char* op, const char* what, const Communicator& its, const Communicator& model) {
  if (!its.same_ranks(model))
    raise<CommError>(op,
                     "got {} on another communicator than the model's, of {} and {} ranks; expected the same ranks in "
                     "the same order",
                     what, its.size(), model.size());
}

}  // namespace heatpp::nn::detail
