#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/sparse/io/detail/small_file.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>
#include <heatpp_io/numpy/npz.hpp>

#include <algorithm>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// A member with its archive.
class Member : public io::detail::ByteReader {
 public:
  Member(const Loading& file, std::shared_ptr<io::detail::FileReader> archive, const io::detail::ZipMember& member)
      : archive_(std::move(archive)), bytes_(io::detail::open_member(*archive_, member, file.path, file.op)) {}
  [[nodiscard]] std::int64_t size() const override { return bytes_->size(); }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override { bytes_->read(offset, bytes, to); }

 private:
  std::shared_ptr<io::detail::FileReader> archive_;
  std::unique_ptr<io::detail::ByteReader> bytes_;
};

class Archive {
 public:
  explicit Archive(const Loading& file)
      : file_(file),
        bytes_(std::make_shared<io::detail::FileReader>(file.path, file.op)),
        members_(io::detail::zip_members(*bytes_, file.path, file.op)) {}

  [[nodiscard]] bool has(const std::string& name) const {
    return std::ranges::any_of(members_, [&](const auto& member) { return member.name == name + ".npy"; });
  }
  [[nodiscard]] StoredArray array(const std::string& name) const {
    auto bytes = open(name);
    auto header = io::detail::read_npy_header(*bytes, formatted("\"{}\" of \"{}\"", name, file_.path), file_.op);
    return flat_array(file_, name, std::move(bytes), std::move(header));
  }
  /// Returns a vector.
  [[nodiscard]] StoredArray vector(const std::string& name) const {
    auto found = array(name);
    if (found.shape.size() != 1)
      raise<IoError>(file_.op, "got {} of shape {} in \"{}\"; expected a vector", name, heatpp::to_string(found.shape),
                     file_.path);
    return found;
  }
  /// Returns the shape of a matrix, or of an array with one axis or more.
  [[nodiscard]] Shape shape() const {
    const auto stored = vector("shape");
    if (stored.size() < 1 || stored.size() > static_cast<std::int64_t>(io::detail::max_ndim))
      raise<IoError>(file_.op, "got {} axes in \"{}\"; expected 1 to {}", stored.size(), file_.path,
                     io::detail::max_ndim);
    const auto numbers = stored.numbers(file_, 0, stored.size());
    const auto* const extents = numbers.const_data_ptr<std::int64_t>();
    Shape shape(extents, extents + numbers.numel());
    io::detail::checked_bytes(shape, 1, "a sparse array", file_.op);
    return shape;
  }
  /// Returns the name of the format, which is all that follows the header's line: letters of one byte each, or of four.
  [[nodiscard]] std::string format() const {
    const auto bytes = open("format");
    std::string text(static_cast<std::size_t>(std::min<std::int64_t>(bytes->size(), 4096)), '\0');
    bytes->read(0, std::ssize(text), text.data());
    const auto line_end = text.find('\n', std::min<std::size_t>(text.size(), 10));
    text.erase(0, line_end == std::string::npos ? text.size() : line_end + 1);
    std::erase(text, '\0');
    return text;
  }

 private:
  [[nodiscard]] std::shared_ptr<io::detail::ByteReader> open(const std::string& name) const {
    const auto found = std::ranges::find_if(members_, [&](const auto& member) { return member.name == name + ".npy"; });
    if (found == members_.end())
      raise<IoError>(file_.op, "got no \"{}\" in \"{}\"; expected a file that scipy.sparse.save_npz wrote", name,
                     file_.path);
    return std::make_shared<Member>(file_, bytes_, *found);
  }

  const Loading& file_;
  std::shared_ptr<io::detail::FileReader> bytes_;
  std::vector<io::detail::ZipMember> members_;
};

/// Returns which elements are this rank's share of n.
std::pair<std::int64_t, std::int64_t> share(const Loading& file, std::int64_t n) {
  const Layout layout({n}, 0, file.comm.size());
  return {layout.offset(file.comm.rank()), layout.count(file.comm.rank())};
}

/// Returns rows and columns of a matrix. An array of one axis is one row; of an array with more than two axes, all
/// after the first become one.
Shape as_matrix(const Shape& shape) {
  if (shape.size() == 1) return {1, shape[0]};
  return {shape[0], size_of(Shape(shape.begin() + 1, shape.end()))};
}

/// Converts places (axes, entries) in an array of this shape to rows and columns.
std::pair<at::Tensor, at::Tensor> flattened(const Loading& file, const at::Tensor& places, const Shape& shape) {
  const auto ndim = std::ssize(shape);
  auto row = ndim == 1 ? at::zeros({places.size(1)}, at::kLong) : places[0].contiguous();
  auto column = at::zeros({places.size(1)}, at::kLong);
  for (std::int64_t axis = ndim == 1 ? 0 : 1; axis < ndim; ++axis) {
    const auto extent = shape[static_cast<std::size_t>(axis)];
    if (places[axis].lt(0).any().item<bool>() || places[axis].ge(extent).any().item<bool>())
      raise<IoError>(file.op, "got places out of range along axis {} of \"{}\"; expected 0 to {}", axis, file.path,
                     extent - 1);
    column = column * extent + places[axis];
  }
  return {std::move(row), std::move(column)};
}

Triples coo_share(const Loading& file, const Archive& archive, const Shape& shape) {
  const auto values = archive.vector("data");
  const auto [first, count] = share(file, values.size());
  const auto places = [&](const std::string& name) {
    const auto stored = archive.vector(name);
    if (stored.size() != values.size())
      raise<IoError>(file.op, "got {} numbers in {} for {} values in \"{}\"; expected as many", stored.size(), name,
                     values.size(), file.path);
    return stored.numbers(file, first, count);
  };
  if (shape.size() == 2 && archive.has("row")) return {places("row"), places("col"), values.read(0, first, count)};
  const auto all = archive.array("coords");
  const Shape expected{std::ssize(shape), values.size()};
  if (all.shape != expected)
    raise<IoError>(file.op, "got coords of shape {} for {} values in \"{}\"; expected {}", heatpp::to_string(all.shape),
                   values.size(), file.path, heatpp::to_string(expected));
  auto [rows, columns] = flattened(file, all.numbers(file, first, count, 1), shape);
  return {std::move(rows), std::move(columns), values.read(0, first, count)};
}

/// Element (i, j) of the diagonals' array is the element of column j in diagonal offsets[i].
Triples dia_share(const Loading& file, const Archive& archive, const Shape& shape) {
  const auto diagonals = archive.array("data");
  const auto stored_offsets = archive.vector("offsets");
  if (diagonals.shape.size() != 2 || diagonals.shape[0] != stored_offsets.size())
    raise<IoError>(file.op, "got data of shape {} for {} offsets in \"{}\"; expected a row for each",
                   heatpp::to_string(diagonals.shape), stored_offsets.size(), file.path);
  const auto offsets = stored_offsets.numbers(file, 0, stored_offsets.size());
  const auto [first, count] = share(file, std::min(diagonals.shape[1], shape[1]));
  const auto block = diagonals.read(1, first, count);
  const auto columns = at::arange(first, first + count, at::kLong).expand({offsets.numel(), count});
  const auto rows = columns - offsets.unsqueeze(1);
  const auto kept =
      at::nonzero(rows.ge(0).logical_and(rows.lt(shape[0])).logical_and(block.ne(0)).reshape(-1)).view(-1);
  const auto of = [&](const at::Tensor& x) { return x.reshape(-1).index_select(0, kept); };
  return {of(rows), of(columns), of(block)};
}

/// Every element of every block is an entry.
Triples bsr_share(const Loading& file, const Archive& archive, const Shape& shape) {
  StoredMatrix stored{shape, false, archive.vector("indptr"), archive.vector("indices"), archive.array("data")};
  const auto& of_blocks = stored.values.shape;
  if (of_blocks.size() != 3 || of_blocks[1] < 1 || of_blocks[2] < 1 || shape[0] % of_blocks[1] != 0 ||
      shape[1] % of_blocks[2] != 0)
    raise<IoError>(file.op, "got blocks of shape {} for shape {} in \"{}\"; expected blocks that fit it",
                   heatpp::to_string(of_blocks), heatpp::to_string(shape), file.path);
  const auto high = of_blocks[1], wide = of_blocks[2];
  stored.shape = {shape[0] / high, shape[1] / wide};
  const auto [first, count] = share(file, stored.shape[0]);
  const auto run = read_run(file, stored, stored.shape[1], first, count);
  const auto places = triples_of({run.row_ptr, run.columns, run.values}, first);
  const auto spread = [&](const at::Tensor& x, std::int64_t extent, bool down) {
    const auto within =
        at::arange(extent, at::kLong).view(down ? at::IntArrayRef{1, extent, 1} : at::IntArrayRef{1, 1, extent});
    return (x.view({-1, 1, 1}) * extent + within).expand({x.numel(), high, wide}).contiguous().view(-1);
  };
  return {spread(places.rows, high, true), spread(places.columns, wide, false), run.values.reshape(-1)};
}

DCSRMatrix load_part_of_npz(const Loading& file) {
  std::string format;
  StoredMatrix stored;
  Triples triples;
  all_or_none(file.comm, [&] {
    const Archive archive(file);
    format = archive.format();
    const auto shape = archive.shape();
    stored.shape = as_matrix(shape);
    check_shape(file, stored.shape);
    if (shape.size() != 2 && format != "coo" && !(shape.size() == 1 && format == "csr"))
      raise<IoError>(file.op, "got {} of shape {} in \"{}\"; expected a matrix, or coo", format,
                     heatpp::to_string(shape), file.path);
    if (format == "csr" || format == "csc")
      stored = {stored.shape, format == "csc", archive.vector("indptr"), archive.vector("indices"),
                archive.vector("data")};
    else if (format == "coo") triples = coo_share(file, archive, shape);
    else if (format == "dia") triples = dia_share(file, archive, stored.shape);
    else if (format == "bsr") triples = bsr_share(file, archive, stored.shape);
    else
      raise<IoError>(file.op, "got the format {:?} in \"{}\"; expected csr, csc, coo, bsr or dia", format, file.path);
  });
  if (stored.values.read) return load_compressed(file, stored);
  return load_triples(file, stored.shape, std::move(triples));
}

}  // namespace

DCSRMatrix load_npz(const std::filesystem::path& path, const LoadOptions& options) {
  const Loading file("load_npz", path, options);
  check_options(file.op, options, {});
  return load_matrix(file, load_part_of_npz);
}

void save_npz(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  check_options("save_npz", options, {.compression = true});
  const auto shape = array(std::vector<std::int64_t>{a.rows(), a.columns()}, {.comm = a.comm()});
  const auto [columns, pointers] = indices_to_store(a);
  io::save_npz({{"indices", columns}, {"indptr", pointers}, {"shape", shape}, {"data", a.values()}}, path,
               {.compression = io::detail::gzip_level(options.compression, "save_npz"), .texts = {{"format", "csr"}}});
}

}  // namespace heatpp::sparse
