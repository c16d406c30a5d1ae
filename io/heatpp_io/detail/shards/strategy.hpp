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

/// Whether each rank of a grid reads its block of `box` itself: if no more is read or decompressed several times than
/// choose_strategy admits.
[[nodiscard]] bool reads_boxes(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// Returns how many bytes are read or decompressed, if one rank reads the box.
[[nodiscard]] double bytes_to_read(const DatasetInfo& info, const Selection& box);

/// Data of at most this many bytes in one file are read by rank 0 and sent to the others. Tests change it.
[[nodiscard]] std::int64_t& most_by_first();

/// Whether rank 0 reads a box whose elements have `itemsize` bytes in memory: it is small, in one file, and little more
/// than it has to be read.
[[nodiscard]] bool is_read_by_first(const Shards& shards, const Selection& box, std::int64_t itemsize);

/// How often an element may be read from the page cache before sending it is better.
inline constexpr double plain_limit = 2.0;

/// Whether every rank's block of `box` under `layout` is one run of bytes in the file.
[[nodiscard]] bool is_one_run(const DatasetInfo& info, const Selection& box, const Layout& layout);

/// Returns the fastest way to read `box` under `layout`, which must be split. `collective` forces or forbids MPI-IO, if
/// MPI-IO is possible at all.
[[nodiscard]] Strategy choose_strategy(const Shards& shards, const Selection& box, const Layout& layout,
                                       std::optional<bool> collective);

}  // namespace heatpp::io::detail
