#include <heatpp_io/detail/files/look.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io::detail {
namespace {

/// The first message: what became of the look, the number of bytes, and the first of them.
struct Seen {
  std::int64_t failed = -1;  ///< kind of the error, whose text the bytes are; -1: none
  std::int64_t bytes = 0;
  std::array<char, 240> first = {};
};
static_assert(sizeof(Seen) == 256);

/// Runs `look`. Puts what it saw, or the text of its error, into `bytes`. Returns the first message.
Seen looked(const Communicator& comm, const std::function<std::string()>& look, std::string& bytes) {
  Seen seen;
  if (const auto failure = heatpp::detail::failure_of([&] { bytes = look(); })) {
    seen.failed = static_cast<std::int64_t>(failure->kind);
    bytes = failure->message;
    if (comm.size() > 1) bytes += heatpp::detail::formatted(" (rank {} of {})", comm.rank(), comm.size());
  }
  seen.bytes = std::ssize(bytes);
  std::copy_n(bytes.begin(), std::min(bytes.size(), seen.first.size()), seen.first.begin());
  return seen;
}

}  // namespace

std::string seen_by(int rank, const Communicator& comm, const std::function<std::string()>& look) {
  std::string bytes;
  Seen seen;
  if (comm.rank() == rank) seen = looked(comm, look, bytes);
  comm.broadcast({&seen, sizeof seen, int8}, rank);
  bytes.resize(static_cast<std::size_t>(seen.bytes));
  const auto here = std::min(bytes.size(), seen.first.size());
  std::copy_n(seen.first.begin(), here, bytes.begin());
  if (here < bytes.size())
    comm.broadcast({bytes.data() + here, std::ssize(bytes) - std::ssize(seen.first), int8}, rank);
  if (seen.failed >= 0) throw_error(static_cast<ErrorKind>(seen.failed), bytes);
  return bytes;
}

std::vector<std::string> texts_seen_by_first(const Communicator& comm,
                                             const std::function<std::vector<std::string>()>& look) {
  const auto joined = seen_by_first(comm, [&] {
    std::string all;
    for (const auto& text : look()) all.append(text).push_back('\0');
    return all;
  });
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < joined.size(); first += texts.back().size() + 1)
    texts.emplace_back(joined.c_str() + first);
  return texts;
}

}  // namespace heatpp::io::detail
