#pragma once

#include <cstdint>
#include <heatpp/comm/buffer.hpp>

namespace heatpp::detail {

/// Where a block of a process lies, for other processes of the machine.
struct Whereabouts {
  std::uint64_t machine;  ///< the kernel, and the name space of its process numbers; 0 where these are not known
  std::int64_t process;
  const std::uint64_t* sign;  ///< holds `signature` in that process, and hardly in any other
  std::uint64_t signature;
  ConstBlock block;
};
[[nodiscard]] Whereabouts whereabouts(const ConstBlock& block);

/// Whether this process may read memory of that one, which is what it says it is.
[[nodiscard]] bool is_readable(const Whereabouts& from);

/// Copies bytes [first, first + length) of another process's block to the same ones of `to`, by the kernel and without
/// anything between. False where that fails; some of it may have been written then.
[[nodiscard]] bool copy_from_peer(const Whereabouts& from, const Block& to, std::int64_t first, std::int64_t length);

}  // namespace heatpp::detail
