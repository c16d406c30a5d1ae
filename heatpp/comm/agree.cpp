#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>

namespace heatpp {

void Communicator::agree(const std::optional<Failure>& failure, Site site) const {
  // The message of the lowest failing rank is thrown on all ranks.
  std::array<std::int64_t, 1> speaker{failure ? rank() : size()};
  allreduce(speaker, ReduceOp::min, site);
  if (speaker[0] == size()) return;

  const auto root = static_cast<int>(speaker[0]);
  auto text = failure ? failure->message : std::string();
  if (root == rank() && size() > 1) text += detail::formatted(" (rank {} of {})", rank(), size());
  std::array<std::int64_t, 2> head{failure ? static_cast<std::int64_t>(failure->kind) : 0,
                                   static_cast<std::int64_t>(text.size())};
  broadcast(head, root, site);
  text.resize(static_cast<std::size_t>(head[1]));
  broadcast({text.data(), head[1], int8}, root, site);
  throw_error(static_cast<ErrorKind>(head[0]), text);
}

std::string detail::text_of(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from "));
}

std::optional<Communicator::Failure> detail::failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return Communicator::Failure{error.kind(), error.what()};
  } catch (const std::exception& error) {
    return Communicator::Failure{ErrorKind::error, text_of(error)};
  } catch (...) {
    return Communicator::Failure{ErrorKind::error, "an exception that is no std::exception"};
  }
  return std::nullopt;
}

void all_or_none(const Communicator& comm, const std::function<void()>& work, Communicator::Site site) {
  comm.agree(detail::failure_of(work), site);
}

}  // namespace heatpp
