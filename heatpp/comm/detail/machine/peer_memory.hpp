#pragma once

#include <cstdint>
#include <heatpp/comm/buffer.hpp>

namespace heatpp::detail {

/// Where a block of a process lies, as other processes of the machine need it.
struct Whereabouts {
  std::uint64_t machine;  ///< the kernel and the name space of its process numbers; 0 if unknown
  std::int64_t process;
  const std::uint64_t* sign;  ///< holds `signature` in that process, and very likely in no other
  std::uint64_t signature;
  ConstBlock block;
};
[[nodiscard]] Whereabouts whereabouts(const ConstBlock& block);

/// Whether this process may read memory of that one, after a check that it is the right one.
[[nodiscard]] bool is_readable(const Whereabouts& from);

/// Copies bytes [first, first + length) of another process's block to the same bytes of `to` by one call of the kernel.
/// Returns false on failure; a part may have been written then.
[[nodiscard]] bool copy_from_peer(const Whereabouts& from, const Block& to, std::int64_t first, std::int64_t length);

}  // namespace heatpp::detail
