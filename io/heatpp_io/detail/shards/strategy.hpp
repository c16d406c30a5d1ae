#pragma once

#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/shards/shards.hpp>

namespace heatpp::io::detail {

/// How the ranks read a box together.
struct Strategy {
  enum class Kind {
    collective,  ///< all ranks together through MPI-IO
    own_block,   ///< each rank reads its block
    exchange,    ///< each rank reads whole chunks or rows, and sends parts to others
  };
  Kind kind = Kind::own_block;
  std::string reason;     ///< why not collective
  int axis = 0;           ///< exchange: the axis along which the ranks share the reading
  std::int64_t unit = 1;  ///< exchange: extent along `axis` that is read at once
};

/// Returns how often an element is read or decompressed, if each rank reads its block of `box` under `layout`.
[[nodiscard]] double read_amplification(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// Returns how often an element is read if each brick of this shape is read separately, without chunks.
[[nodiscard]] double read_amplification(const DatasetInfo& info, const Shape& brick);

/// How often an element may be read from the page cache before sending it is better.
inline constexpr double plain_limit = 2.0;

/// Whether every rank's block of `box` under `layout` is one run of bytes in the file.
[[nodiscard]] bool is_one_run(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// Returns the fastest way to read `box` under `layout`, which must be split. `collective` forces or forbids MPI-IO, if
/// MPI-IO is possible at all.
[[nodiscard]] Strategy choose_strategy(const Shards& shards, const Selection& box, const Layout& layout,
                                       std::optional<bool> collective);

}  // namespace heatpp::io::detail
