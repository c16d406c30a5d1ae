#include <heatpp_io/stream/stored_array.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "StoredArray";
constexpr std::size_t open_files = 4;

}  // namespace

struct StoredArray::Impl {
  Communicator comm;
  Source source;
  StoredArrayOptions options;
  detail::Numbers numbers;
  StoredInfo info = {};
  std::int64_t files = 0;
  detail::Shards shards = {};
  std::optional<detail::ShardReader> reader = {};
  std::optional<DNDarray> parsed = {};

  ~Impl() {
    const detail::Hdf5Turn turn;
    reader.reset();
  }

  void look_into(const detail::Format& format) {
    const detail::Hdf5Turn turn;
    auto found = detail::find_shards(format, source, {options.dataset, numbers}, comm, op);
    shards = std::move(found.shards);
    reader.emplace(shards, std::move(found.open), op, open_files);
    const auto& stored = shards.info;
    info = {.name = options.dataset,
            .shape = stored.shape,
            .dtype = options.dtype.value_or(stored.element.dtype),
            .chunks = stored.chunk,
            .compressed = stored.compressed,
            .compression = stored.compression,
            .uint64 = !options.dtype && stored.digest == 0 && stored.element.may_overflow};
    files = shards.count();
    if (format.annotations) say(format);
  }

  /// Stores what the first file says about the array.
  void say(const detail::Format& format) {
    const auto& path = shards.paths[0];
    const auto said = detail::json_seen_by_first(comm, [&]() -> nlohmann::json {
      const auto found = format.annotations(path, options.dataset);
      const auto decoding = format.open(path, options.dataset).decoding;
      return {found.dimension_names, detail::typed_json(detail::attributes_left(found.attributes, decoding, numbers))};
    });
    info.dimension_names = said[0].get<std::vector<std::string>>();
    info.attributes = detail::from_typed(said[1]);
  }

  void parse() {
    if (!options.dataset.empty()) raise<ValueError>(op, "got dataset \"{}\" for .csv; expected none", options.dataset);
    auto csv = options.csv;
    csv.dtype = options.dtype.value_or(float64);
    csv.split = 0;
    csv.device = cpu;
    csv.comm = comm;
    parsed = load_csv(source, csv);
    info = {.shape = parsed->shape(), .dtype = parsed->dtype()};
    files = std::ssize(detail::expand(source, comm, op, ".csv"));
  }

  /// Returns the ranks' shares of a piece, cut at the beginning of chunks.
  [[nodiscard]] Layout cut(std::int64_t first, const Shape& extents) const {
    const Layout even(extents, 0, comm.size());
    const auto chunk = info.chunks.empty() ? 1 : info.chunks[0];
    if (chunk == 1 || extents[0] < chunk * comm.size()) return even;
    return detail::between_chunks(even, chunk, first);
  }

  /// Returns this rank's block of the rows from `first` on with the given `layout`.
  [[nodiscard]] DNDarray read(std::int64_t first, Layout layout) {
    const auto shape = layout.local_shape(comm.rank());
    const bool small = reads_alone(first, layout);
    at::Tensor block, whole;
    all_or_none(comm, [&] {
      const auto type = heatpp::detail::to_torch(*info.dtype);
      block = heatpp::detail::block_or_error(op, shape, [&] { return at::empty(shape, type); });
      const auto box = box_of(first, layout);
      if (!small) return read_box(layout.split() ? own_rows(box, layout) : box, block);
      if (comm.rank() == 0) read_box(box, whole = at::empty(layout.shape(), type));
    });
    if (small) detail::send_from_first(whole, layout, block, comm);
    return heatpp::detail::wrap(std::move(block), std::move(layout), comm);
  }

  /// Returns the rows from `first` on.
  [[nodiscard]] detail::Selection box_of(std::int64_t first, const Layout& layout) const {
    auto box = detail::select(info.shape, {}, op);
    return box.empty() ? box : detail::narrow(box, 0, first, layout.shape()[0]);
  }
  [[nodiscard]] detail::Selection own_rows(const detail::Selection& box, const Layout& layout) const {
    return detail::narrow(box, 0, layout.offset(comm.rank()), layout.count(comm.rank()));
  }
  /// Whether rank 0 reads the rows from `first` on and sends them.
  [[nodiscard]] bool reads_alone(std::int64_t first, const Layout& layout) const {
    const auto bytes = static_cast<std::int64_t>(itemsize(*info.dtype));
    return comm.size() > 1 && detail::is_read_by_first(shards, box_of(first, layout), bytes);
  }
  void read_box(const detail::Selection& box, const at::Tensor& out) {
    const detail::Hdf5Turn turn;
    if (out.numel() > 0) reader->read(box, out);
  }

  [[nodiscard]] DNDarray kept(std::int64_t first, std::int64_t count) const {
    const auto& layout = parsed->layout();
    const auto place = [&](int rank) { return std::clamp(layout.offset(rank), first, first + count); };
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < comm.size(); ++rank) counts.push_back(place(rank + 1) - place(rank));
    const auto begin = std::min(place(comm.rank()) - layout.offset(comm.rank()), layout.count(comm.rank()));
    auto mine =
        parsed->larray().narrow(0, std::max<std::int64_t>(0, begin), counts[static_cast<std::size_t>(comm.rank())]);
    return heatpp::detail::wrap(mine.contiguous(), Layout::from_counts(layout.shape(), 0, counts), comm);
  }
};

StoredArray::StoredArray(const Source& source, const StoredArrayOptions& options)
    : impl_(new Impl{comm_of(options.comm), source, options, detail::numbers_for(options.decode)}) {
  const auto& format = detail::format_to_read(source, impl_->comm, op);
  if (format.open) impl_->look_into(format);
  else impl_->parse();
}

StoredArray StoredArray::stored() const {
  const auto& x = *impl_;
  if (x.parsed || x.options.dtype || !x.shards.alike || (x.shards.info.digest == 0 && !x.info.uint64)) return *this;
  // Files without the array have been logged, and are not looked at again.
  StoredArray same(std::shared_ptr<Impl>(new Impl{x.comm, x.shards.paths, x.options, detail::Numbers::to_copy}));
  same.impl_->look_into(detail::format_to_read(x.source, x.comm, op));
  same.impl_->info.uint64 = x.info.uint64;
  return same;
}

const StoredInfo& StoredArray::info() const { return impl_->info; }
const Communicator& StoredArray::comm() const { return impl_->comm; }
std::int64_t StoredArray::files() const { return impl_->files; }
bool StoredArray::streams() const { return !impl_->parsed; }

std::int64_t StoredArray::rows_of_bytes(std::int64_t bytes) const {
  if (shape().empty()) return 1;
  const auto row =
      size_of(shape()) / std::max<std::int64_t>(1, shape()[0]) * static_cast<std::int64_t>(itemsize(dtype()));
  const auto rows = std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, row));
  const auto chunk = info().chunks.empty() ? 1 : info().chunks[0];
  return rows > chunk ? rows / chunk * chunk : rows;
}

DNDarray StoredArray::rows(std::int64_t first, std::int64_t count) const {
  if (shape().empty()) raise<ValueError>(op, "got an array without axes; expected rows");
  if (first < 0 || count < 0 || first > shape()[0] - count)
    raise<IndexError>(op, "got {} rows from {} on; expected rows within {}", count, first, shape()[0]);
  if (!streams()) return impl_->kept(first, count);
  auto extents = shape();
  extents[0] = count;
  return impl_->read(first, impl_->cut(first, extents));
}

DNDarray StoredArray::all() const {
  return shape().empty() ? impl_->read(0, Layout({}, std::nullopt, comm().size())) : rows(0, shape()[0]);
}

}  // namespace heatpp::io
