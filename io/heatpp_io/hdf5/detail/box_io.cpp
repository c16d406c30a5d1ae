#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>
#include <heatpp_io/hdf5/detail/chunk_io.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

// MPI-IO and HDF5's drivers count bytes in ints.
constexpr std::int64_t direct_bytes = std::int64_t{1} << 30;
// A converted piece should still lie in the cache when it is copied to its place, and be few calls.
constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;

/// Selects the elements of `piece` of `box` in the dataset's space; none without a piece.
Handle file_space(const Dataset& dataset, const Selection& box, const Piece* piece) {
  Handle space(H5Dget_space(dataset.id.get()));
  if (!piece) {
    H5Sselect_none(space.get());
  } else if (!box.empty()) {
    std::vector<hsize_t> start, step, count;
    for (std::size_t i = 0; i < box.size(); ++i) {
      start.push_back(static_cast<hsize_t>(box[i].start + piece->first[i] * box[i].step));
      step.push_back(static_cast<hsize_t>(piece->count[i] > 1 ? box[i].step : 1));
      count.push_back(static_cast<hsize_t>(piece->count[i]));
    }
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), step.data(), count.data(), nullptr);
  }
  return space;
}

/// A space of the piece's own extents: HDF5 maps chunks element by element where the number of axes differs.
Handle memory_space(const Piece* piece) {
  const auto extents = piece ? piece->count : Shape{1};
  const std::vector<hsize_t> count(extents.begin(), extents.end());
  Handle space(count.empty() ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
  if (!piece) H5Sselect_none(space.get());
  return space;
}

CutAt cuts_of(const DatasetInfo& info, const Selection& box) {
  if (info.chunk.empty() || box.empty()) return {};
  const auto unit = std::max<std::int64_t>(1, info.chunk[0] / box[0].step);
  return {unit, box[0].step == 1 ? box[0].start % unit : 0};
}

void read_piece(const Dataset& dataset, const Selection& box, const Piece* piece, const at::Tensor& to,
                const BoxCall& call) {
  const bool alone = piece && call.transfer == H5P_DEFAULT;  // others may have to call HDF5 at the same time
  if (alone && dataset.info.compressed &&
      read_chunks(dataset, narrow(box, piece->first, piece->count), to.view(piece->count)))
    return;
  const auto space = file_space(dataset, box, piece), memory = memory_space(piece);
  if (H5Dread(dataset.id.get(), dataset.memory.get(), memory.get(), space.get(), call.transfer,
              piece ? to.data_ptr() : nullptr) >= 0)
    return;
  const auto reason = innermost_error();
  if (const auto missing = missing_filter(Handle(H5Dget_create_plist(dataset.id.get()))))
    raise<IoError>(call.op, "got \"{}\", whose chunks went through {}", call.path, *missing);
  raise<IoError>(call.op, "got an error while reading \"{}\" ({}); expected a complete file", call.path, reason);
}

/// What HDF5 delivers and the library cannot hold: bytes other than 0 and 1 as bool, numbers from 2^63 on.
void check_elements(const ElementType& element, const at::Tensor& values, const BoxCall& call) {
  if (element.dtype == bool_) {
    auto bytes = values.view(at::kByte);
    bytes.clamp_(0, 1);
  } else if (element.may_overflow && values.lt(0).any().item<bool>()) {
    raise_overflow(call.path, call.op);
  }
}

bool is_direct(const DatasetInfo& info, const at::Tensor& block) {
  return block.scalar_type() == heatpp::detail::to_torch(info.element.dtype);
}

}  // namespace

std::vector<Piece> read_plan(const DatasetInfo& info, const Selection& box, Dtype dtype) {
  const auto limit = dtype == info.element.dtype ? direct_bytes : staging_bytes;
  return plan_pieces(extents(box), limit / static_cast<std::int64_t>(itemsize(info.element.dtype)), cuts_of(info, box));
}

void read_box(const Dataset& dataset, const Selection& box, const at::Tensor& out, const BoxCall& call) {
  const auto pieces = read_plan(dataset.info, box, heatpp::detail::from_torch(out.scalar_type()));
  const bool direct = is_direct(dataset.info, out);
  const auto flat = out.view({-1});
  at::Tensor staging;
  if (!direct && !pieces.empty()) {
    const auto largest = std::ranges::max(pieces, {}, &Piece::size).size;
    staging = at::empty({largest}, heatpp::detail::to_torch(dataset.info.element.dtype));
  }
  FirstError error;
  for (std::size_t i = 0; i < std::max(pieces.size(), call.calls); ++i) {
    error.run([&] {
      if (i >= pieces.size()) return read_piece(dataset, box, nullptr, {}, call);
      const auto& piece = pieces[i];
      const auto place = flat.narrow(0, piece.offset, piece.size);
      const auto target = direct ? place : staging.narrow(0, 0, piece.size);
      read_piece(dataset, box, &piece, target, call);
      check_elements(dataset.info.element, target, call);
      if (!direct) place.copy_(target);
    });
  }
  error.rethrow();
}

std::vector<Piece> write_plan(const DatasetInfo& info, const Selection& box) {
  return plan_pieces(extents(box), direct_bytes / static_cast<std::int64_t>(itemsize(info.element.dtype)),
                     cuts_of(info, box));
}

void write_box(const Dataset& dataset, const Selection& box, const at::Tensor& in, const BoxCall& call) {
  const auto pieces = write_plan(dataset.info, box);
  const auto* data = static_cast<const std::byte*>(in.const_data_ptr());
  FirstError error;
  for (std::size_t i = 0; i < std::max(pieces.size(), call.calls); ++i) {
    error.run([&] {
      const auto* piece = i < pieces.size() ? &pieces[i] : nullptr;
      const auto space = file_space(dataset, box, piece), memory = memory_space(piece);
      const auto* from = piece ? data + piece->offset * in.element_size() : nullptr;
      if (H5Dwrite(dataset.id.get(), dataset.memory.get(), memory.get(), space.get(), call.transfer, from) < 0)
        raise<IoError>(call.op, "got an error while writing \"{}\" ({}); expected room on the disk", call.path,
                       innermost_error());
    });
  }
  error.rethrow();
}

}  // namespace heatpp::io::detail
