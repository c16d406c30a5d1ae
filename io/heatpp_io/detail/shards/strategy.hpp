#pragma once

#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/shards/shards.hpp>

namespace heatpp::io::detail {

/// How the ranks read a box that they share.
struct Strategy {
  enum class Kind {
    collective,  ///< all ranks together by MPI-IO
    own_block,   ///< each rank its block
    exchange,    ///< each rank whole chunks or rows, of which it sends the others their parts
  };
  Kind kind = Kind::own_block;
  std::string reason;     ///< why not collective
  int axis = 0;           ///< of exchange: the axis along which the ranks share the reading
  std::int64_t unit = 1;  ///< of exchange: extent along `axis` of what is read as one
};

/// How often an element is read from the disk, or decompressed, if each rank reads its block of `box` under `layout`.
[[nodiscard]] double read_amplification(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// The same where a brick of this shape is read on its own from an array without chunks.
[[nodiscard]] double read_amplification(const DatasetInfo& info, const Shape& brick);

/// How often an element may be read where the page cache has it, rather than be sent.
inline constexpr double plain_limit = 2.0;

/// Whether every rank's block of `box` under `layout` is one run of bytes in the file.
[[nodiscard]] bool is_one_run(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// The fastest way to read `box` under `layout`, which must be split. `collective` forces or forbids MPI-IO where it is
/// possible at all.
[[nodiscard]] Strategy choose_strategy(const Shards& shards, const Selection& box, const Layout& layout,
                                       std::optional<bool> collective);

}  // namespace heatpp::io::detail
