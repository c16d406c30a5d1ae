#include <heatpp_io/detail/shards/strategy.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

// If the wanted runs are shorter, HDF5 reads contiguous data through a buffer of this size.
constexpr double sieve_bytes = 65536;
// A second decompression costs more than a message; a second read from the page cache costs less.
constexpr double compressed_limit = 1.25;

std::int64_t bytes_behind(const Shape& shape, int axis, Dtype dtype) {
  auto bytes = static_cast<std::int64_t>(itemsize(dtype));
  for (auto i = static_cast<std::size_t>(axis) + 1; i < shape.size(); ++i) bytes *= shape[i];
  return bytes;
}

std::int64_t chunks_between(std::int64_t first, std::int64_t last, std::int64_t chunk) {
  return first < last ? (last - 1) / chunk - first / chunk + 1 : 0;
}

double chunk_amplification(const ResolvedSlice& range, const heatpp::detail::Cut& cut, std::int64_t chunk) {
  const auto index = [&](std::int64_t position) { return range.start + position * range.step; };
  const auto chunks = [&](std::int64_t from, std::int64_t to) {
    return from < to ? chunks_between(index(from), index(to - 1) + 1, chunk) : 0;
  };
  std::int64_t read = 0;
  for (int r = 0; r < cut.ranks(); ++r) read += chunks(cut.first(r), cut.first(r) + cut.extent(r));
  return static_cast<double>(read) / static_cast<double>(std::max<std::int64_t>(1, chunks(0, range.count)));
}

/// Returns the amplification for runs of `count` positions along `axis`; later axes are whole.
double sieve_amplification(const DatasetInfo& info, int axis, std::int64_t count) {
  const auto inner = bytes_behind(info.shape, axis, info.element.dtype);
  const auto run = static_cast<double>(inner * count);
  const auto stride = static_cast<double>(inner * info.shape[static_cast<std::size_t>(axis)]);
  return run > 0 ? std::max(1.0, std::min(stride, sieve_bytes) / run) : 1.0;
}

/// Returns the amplification by gaps between the positions of an axis, which are read through the sieve buffer.
double gap_amplification(const DatasetInfo& info, const Selection& box) {
  double most = 1;
  for (std::size_t i = 0; i < box.size(); ++i) {
    const auto run = static_cast<double>(
        std::max<std::int64_t>(1, bytes_behind(info.shape, static_cast<int>(i), info.element.dtype)));
    if (box[i].count > 1) most = std::max(most, std::min(run * static_cast<double>(box[i].step), sieve_bytes) / run);
  }
  return most;
}

/// Whether memory has room for one unit of rows or chunks in addition to the block.
bool fits(const DatasetInfo& info, const Selection& box, const Layout& layout, int axis, std::int64_t unit) {
  constexpr std::int64_t always = std::int64_t{8} << 20;
  const auto bytes = static_cast<std::int64_t>(itemsize(info.element.dtype));
  const auto extent = std::max<std::int64_t>(1, box[static_cast<std::size_t>(axis)].count);
  const auto unit_bytes = layout.size() / extent * std::min(unit, extent) * bytes;
  return unit_bytes <= std::max(always, layout.size() / layout.ranks() * bytes / 8);
}

/// Returns the axis along which the ranks share the reading: not split, without gaps, and with the most units.
std::optional<Strategy> exchange_along(const DatasetInfo& info, const Selection& box, const Layout& layout) {
  std::optional<Strategy> best;
  std::int64_t most = 1;
  for (int axis = 0; axis < (info.chunk.empty() ? 1 : layout.ndim()); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const auto unit = info.chunk.empty() ? 1 : info.chunk[i];
    const auto units = chunks_between(box[i].start, box[i].start + box[i].count, unit);
    if (axis == layout.split() || box[i].step != 1 || units <= most || !fits(info, box, layout, axis, unit)) continue;
    most = units;
    best = Strategy{Strategy::Kind::exchange, {}, axis, unit};
  }
  return best;
}

std::string unshared_reason(const Shards& shards, const Layout& layout) {
  if (layout.ranks() == 1) return "independent: one rank";
  if (shards.info.in_other_files) return "independent: HDF5 cannot read virtual datasets and subfiles through MPI-IO";
  return heatpp::detail::formatted("independent: {} files, each opened by the ranks that need it", shards.count());
}

std::string shared_reason(const DatasetInfo& info, bool one_run) {
  if (info.compressed) return "independent: compressed chunks, each rank reads those of its block";
  if (!info.chunk.empty()) return "independent: chunks, each rank reads those of its block";
  if (!one_run) return "independent: short runs are faster through a sieve buffer";
  return "independent: as asked for";
}

}  // namespace

double read_amplification(const DatasetInfo& info, const Selection& box, const Layout& layout) {
  const auto split = static_cast<std::size_t>(*layout.split());
  if (!info.chunk.empty()) return chunk_amplification(box[split], layout.cut(), info.chunk[split]);
  return split == 0 ? 1.0 : sieve_amplification(info, *layout.split(), layout.count(0));
}

double read_amplification(const DatasetInfo& info, const Shape& brick) {
  for (auto axis = brick.size(); axis-- > 1;)
    if (brick[axis] != info.shape[axis]) return sieve_amplification(info, static_cast<int>(axis), brick[axis]);
  return 1.0;
}

bool reads_boxes(const DatasetInfo& info, const Selection& box, const Layout& layout) {
  if (info.chunk.empty()) return read_amplification(info, layout.local_shape(0)) <= plain_limit;
  double amplification = 1;
  for (std::size_t axis = 0; axis < box.size(); ++axis)
    amplification *= chunk_amplification(box[axis], layout.cut_along(static_cast<int>(axis)), info.chunk[axis]);
  return amplification <= (info.compressed ? compressed_limit : plain_limit);
}

double bytes_to_read(const DatasetInfo& info, const Selection& box) {
  auto bytes = static_cast<double>(itemsize(info.element.dtype));
  for (std::size_t i = 0; i < box.size(); ++i) {
    const auto& [start, count, step] = box[i];
    if (count == 0) return 0;
    if (info.chunk.empty()) bytes *= static_cast<double>(count);
    else
      bytes *= static_cast<double>(
          std::min(count, chunks_between(start, start + (count - 1) * step + 1, info.chunk[i])) * info.chunk[i]);
  }
  return info.chunk.empty() ? bytes * read_amplification(info, extents(box)) * gap_amplification(info, box) : bytes;
}

std::int64_t& most_by_first() {
  static std::int64_t bytes = std::int64_t{1} << 20;
  return bytes;
}

bool is_read_by_first(const Shards& shards, const Selection& box, std::int64_t itemsize) {
  constexpr double most_read = 16 << 20;
  const auto most = most_by_first() / itemsize;
  if (shards.count() != 1 || size_of(extents(box)) > most) return false;
  return size_of(shards.info.shape) <= most || bytes_to_read(shards.info, box) <= most_read;
}

bool is_one_run(const DatasetInfo& info, const Selection& box, const Layout& layout) {
  if (!info.chunk.empty() || layout.split() != 0 || box[0].step != 1) return false;
  for (std::size_t i = 1; i < box.size(); ++i)
    if (box[i].count != info.shape[i]) return false;
  return true;
}

Strategy choose_strategy(const Shards& shards, const Selection& box, const Layout& layout,
                         std::optional<bool> collective) {
  const bool shared = layout.ranks() > 1 && shards.count() == 1 && !shards.info.in_other_files;
  const auto& info = shards.info;
  const auto amplification = read_amplification(info, box, layout);
  if (shared && collective.value_or(is_one_run(info, box, layout))) return {Strategy::Kind::collective, {}};
  if (layout.ranks() > 1 && amplification > (info.compressed ? compressed_limit : plain_limit)) {
    if (auto exchange = exchange_along(info, box, layout)) {
      exchange->reason = heatpp::detail::formatted(
          "exchange: each {} read once and its parts sent to their ranks{}", info.chunk.empty() ? "row" : "chunk",
          info.in_other_files ? "; HDF5 cannot read virtual datasets and subfiles through MPI-IO" : "");
      return *exchange;
    }
  }
  return {Strategy::Kind::own_block,
          shared ? shared_reason(info, is_one_run(info, box, layout)) : unshared_reason(shards, layout)};
}

}  // namespace heatpp::io::detail
