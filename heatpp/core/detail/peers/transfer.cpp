#include <heatpp/core/detail/peers/transfer.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>

#include <utility>

namespace heatpp::detail {

void carry_out(const Transfer& transfer, const Communicator& comm) {
  Sends send;
  Receives receive;
  const auto bytes = transfer.matrix.defined() ? static_cast<std::int64_t>(transfer.matrix.nbytes()) : 0;
  auto* const data = bytes > 0 ? static_cast<std::byte*>(transfer.matrix.data_ptr()) : nullptr;
  if (transfer.to >= 0) send.push_back({transfer.to, {data, 1, bytes, bytes}});
  if (transfer.from >= 0) receive.push_back({transfer.from, {data, 1, bytes, bytes}});
  exchange_with(comm, std::move(send), std::move(receive));
}

}  // namespace heatpp::detail
