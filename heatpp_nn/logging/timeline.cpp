#include <heatpp_nn/logging/timeline.hpp>

#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>

namespace heatpp::nn {

Timeline::Timeline(const Communicator& comm) : comm_(comm) {
  heatpp::detail::start_tracing();
  comm_.barrier();
  origin_ = Clock::now();
}

void Timeline::note(const std::string& name, Clock::time_point begin) {
  seconds_[name] += std::chrono::duration<double>(Clock::now() - begin).count();
  heatpp::detail::trace(name, begin);
}

void Timeline::save(const std::string& path) const {
  auto mine = heatpp::detail::trace_events(comm_.rank(), origin_);
  const auto bytes = comm_.allgather(std::ssize(mine));
  if (comm_.rank() != 0) comm_.send({mine.data(), std::ssize(mine), int8}, 0);
  all_or_none(comm_, [&] {
    if (comm_.rank() != 0) return;
    for (int rank = 1; rank < comm_.size(); ++rank) {
      std::string theirs(static_cast<std::size_t>(bytes[static_cast<std::size_t>(rank)]), ' ');
      comm_.receive({theirs.data(), std::ssize(theirs), int8}, rank);
      mine += ",\n" + theirs;
    }
    io::detail::write_atomically("Timeline", path, "[\n" + mine + "\n]\n");
  });
}

}  // namespace heatpp::nn
