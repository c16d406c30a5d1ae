#include <heatpp_io/hdf5/detail/box_io.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/hdf5/detail/chunk_io.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

// MPI-IO and HDF5's drivers count bytes with int.
constexpr std::int64_t direct_bytes = std::int64_t{1} << 30;
// A converted piece should still be in the cache when it is copied to its place, and need few calls.
constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;

/// Selects the elements of `piece` of `box` in the dataset's space; none if there is no piece.
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

/// Returns a space of the piece's own extents: HDF5 maps chunks element by element if the number of axes differs.
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
  const bool alone = piece && call.transfer == H5P_DEFAULT;  // otherwise all ranks must make the same calls
  if (alone && !dataset.info.chunk.empty() && dataset.inner.empty() &&
      read_chunks(dataset, narrow(box, piece->first, piece->count), to.view(piece->count)))
    return;
  const auto space = file_space(dataset, box, piece), memory = memory_space(piece);
  if (H5Dread(dataset.id.get(), dataset.memory.get(), memory.get(), space.get(), call.transfer,
              piece ? to.data_ptr() : nullptr) >= 0)
    return;
  const auto reason = innermost_error();
  if (const auto missing = missing_filter(applied_filters(Handle(H5Dget_create_plist(dataset.id.get())))))
    raise<IoError>(call.op, "got \"{}\", whose chunks went through {}", call.path, *missing);
  raise<IoError>(call.op, "got an error while reading \"{}\" ({}); expected a complete file", call.path, reason);
}

/// Copies elements from HDF5's types to their places. Bytes other than 0 are true; copy_uint64 checks uint64 numbers
/// from 2^63 on.
void put(const ElementType& element, const at::Tensor& values, const at::Tensor& out, const BoxCall& call) {
  if (element.dtype == bool_) values.view(at::kByte).clamp_(0, 1);
  if (element.may_overflow) copy_uint64(values, out, call.path, call.op);
  else if (!values.is_same(out)) out.copy_(values);
}

bool is_direct(const Dataset& dataset, Dtype dtype) {
  return dtype == dataset.info.element.dtype && dataset.inner.empty();
}

/// Returns the part of a box along the dataset's own axes; the other axes are within its elements.
Selection own_axes(const Dataset& dataset, const Selection& box) {
  return {box.begin(), box.end() - std::ssize(dataset.inner)};
}

/// Returns the part of a box within elements, each of which is a small array.
at::Tensor within(const Dataset& dataset, const Selection& box, at::Tensor elements) {
  for (std::size_t i = 0; i < dataset.inner.size(); ++i) {
    const auto& range = box[box.size() - dataset.inner.size() + i];
    const auto end = range.count == 0 ? range.start : range.start + (range.count - 1) * range.step + 1;
    elements = elements.slice(static_cast<std::int64_t>(i) + 1, range.start, end, range.step);
  }
  return elements;
}

/// Returns the shape of `count` elements, each with these axes.
Shape elements_shape(std::int64_t count, const Shape& inner) {
  Shape shape{count};
  shape.insert(shape.end(), inner.begin(), inner.end());
  return shape;
}

/// Fills an array that has one value.
void fill(const Dataset& dataset, const at::Tensor& out, const BoxCall& call) {
  auto value = *dataset.constant;
  const auto type = heatpp::detail::to_torch(dataset.info.element.dtype);
  const auto one = at::from_blob(value.data(), {}, at::TensorOptions(type)).clone();
  const auto converted = at::empty({}, out.options());
  put(dataset.info.element, one, converted, call);
  out.copy_(converted);
}

}  // namespace

std::vector<Piece> read_plan(const Dataset& dataset, const Selection& box, Dtype dtype) {
  const auto limit = is_direct(dataset, dtype) ? direct_bytes : staging_bytes;
  const auto bytes = static_cast<std::int64_t>(itemsize(dataset.info.element.dtype)) * size_of(dataset.inner);
  const auto own = own_axes(dataset, box);
  return plan_pieces(extents(own), std::max<std::int64_t>(1, limit / std::max<std::int64_t>(1, bytes)),
                     cuts_of(dataset.info, own));
}

void read_box(const Dataset& dataset, const Selection& box, const at::Tensor& out, const BoxCall& call) {
  if (dataset.constant) return fill(dataset, out, call);
  const bool bits = out.scalar_type() == at::kUInt64;  // copied as numbers of another dtype are
  const auto dtype = bits ? float64 : heatpp::detail::from_torch(out.scalar_type());
  const auto pieces = read_plan(dataset, box, dtype);
  const auto own = own_axes(dataset, box);
  const bool direct = is_direct(dataset, dtype);
  const auto all = extents(box);
  const auto flat = out.view(elements_shape(size_of(extents(own)), Shape(all.begin() + std::ssize(own), all.end())));
  at::Tensor staging;
  if (!direct && !pieces.empty()) {
    const auto largest = std::ranges::max(pieces, {}, &Piece::size).size;
    staging = at::empty(elements_shape(largest, dataset.inner), heatpp::detail::to_torch(dataset.info.element.dtype));
  }
  FirstError error;
  for (std::size_t i = 0; i < std::max(pieces.size(), call.calls); ++i) {
    error.run([&] {
      if (i >= pieces.size()) return read_piece(dataset, own, nullptr, {}, call);
      const auto& piece = pieces[i];
      const auto place = flat.narrow(0, piece.offset, piece.size);
      const auto target = direct ? place : staging.narrow(0, 0, piece.size);
      read_piece(dataset, own, &piece, target, call);
      put(dataset.info.element, within(dataset, box, target), place, call);
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
