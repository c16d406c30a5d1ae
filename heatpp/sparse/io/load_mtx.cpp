#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/sparse/io/detail/mtx_header.hpp>
#include <heatpp/sparse/io/detail/small_file.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/files/content.hpp>
#include <heatpp_io/detail/files/gzip_reader.hpp>

#include <algorithm>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// This rank's lines in order. Complex values have two numbers each; arrays have no places.
template <class Number>
struct Lines {
  at::Tensor rows, columns, numbers;
  std::int64_t count = 0;
  bool zeros = false;  ///< whether some of the values are 0
};

/// Gives each rank an equal number of bytes after the header. The rank takes the lines that begin there.
io::detail::RecordReader own_lines(const Loading& file, const MtxHeader& header, io::detail::ByteReader& bytes) {
  const Layout cut({bytes.size() - header.begin}, 0, file.comm.size());
  const auto first = header.begin + cut.offset(file.comm.rank()), last = first + cut.count(file.comm.rank());
  char before = '\n';
  if (first > header.begin && first < last) bytes.read(first - 1, 1, &before);
  return {
      bytes, nullptr, {first, last, before == '\n' ? io::detail::CsvState::line_start : io::detail::CsvState::field}};
}

/// Returns the bytes of a file, decompressed if gzip has compressed it.
std::unique_ptr<io::detail::ByteReader> open_text(const Loading& file) {
  if (io::detail::ending_by_content(file.path) == ".mtx.gz")
    return std::make_unique<io::detail::GzipReader>(file.path, file.op);
  return std::make_unique<io::detail::FileReader>(file.path, file.op);
}

/// Throws the error of a line.
[[noreturn]] void refuse(const Loading& file, const MtxHeader& header, const io::detail::RecordReader& lines) {
  const auto bytes = open_text(file);
  raise<IoError>(file.op, "got {:?} in line {} of \"{}\"; expected {}{} of shape {}", lines.record().substr(0, 80),
                 io::detail::line_of(*bytes, lines.at()), file.path,
                 header.coordinate ? "an entry's row, column and value" : "an element",
                 header.symmetry == MtxSymmetry::skew_symmetric ? ", none on the diagonal," : "",
                 heatpp::to_string(header.shape));
}

bool take_place(const MtxHeader& header, std::string_view& line, std::int64_t& row, std::int64_t& column) {
  return next_number(line, row) && next_number(line, column) && row >= 1 && row <= header.shape[0] && column >= 1 &&
         column <= header.shape[1] && (header.symmetry != MtxSymmetry::skew_symmetric || row != column);
}

/// Counts the numbers of a value in its line.
int numbers_of(const MtxHeader& header) {
  return header.field == MtxField::pattern ? 0 : header.field == MtxField::complex ? 2 : 1;
}

/// Allocates memory for the lines of a rank: at most as many as the header says, and as fit in the rank's bytes.
template <class Number>
Lines<Number> room_for(const Loading& file, const MtxHeader& header, std::int64_t bytes) {
  const auto of_line = 2 * (numbers_of(header) + (header.coordinate ? 2 : 0));  // each number has a digit and a blank
  const auto lines = std::min(header.lines, bytes / of_line + 2);
  const auto memory = [&](const Shape& shape, at::ScalarType type) {
    return heatpp::detail::block_or_error(file.op, shape, [&] { return at::empty(shape, type); });
  };
  const auto places = header.coordinate ? lines : 0;
  return {memory({places}, at::kLong), memory({places}, at::kLong),
          memory({lines * std::max(1, numbers_of(header))}, c10::CppTypeToScalarType<Number>::value)};
}

template <class Number>
Lines<Number> parse(const Loading& file, const MtxHeader& header, io::detail::ByteReader& bytes) {
  auto lines = own_lines(file, header, bytes);
  auto found = room_for<Number>(file, header, (bytes.size() - header.begin) / file.comm.size() + 1);
  const int numbers = numbers_of(header);
  const auto room = found.numbers.numel() / std::max(1, numbers);
  auto* const rows = found.rows.template data_ptr<std::int64_t>();
  auto* const columns = found.columns.template data_ptr<std::int64_t>();
  auto* values = found.numbers.template data_ptr<Number>();
  while (lines.next()) {
    auto line = lines.record();
    if (says_nothing(line)) continue;
    if (found.count == room) {
      ++found.count;  // the caller throws for this count
      break;
    }
    std::int64_t row = 0, column = 0;
    bool right = !header.coordinate || take_place(header, line, row, column);
    for (int i = 0; i < numbers && right; ++i) right = next_number(line, values[i]);
    if (!right || !at_end(line)) refuse(file, header, lines);
    if (numbers == 0) values[0] = 1;
    if (header.coordinate) rows[found.count] = row - 1, columns[found.count] = column - 1;
    found.zeros = found.zeros || (values[0] == 0 && (numbers < 2 || values[1] == 0));
    values += std::max(1, numbers);
    ++found.count;
  }
  return found;
}

/// Returns the places of an array's elements from `first` on: by columns; if symmetric, from the diagonal down.
template <class Number>
void place(const MtxHeader& header, std::int64_t first, Lines<Number>& lines) {
  const auto begin_of = [&](std::int64_t column) {
    if (header.symmetry == MtxSymmetry::general) return std::int64_t{0};
    return column + (header.symmetry == MtxSymmetry::skew_symmetric);
  };
  lines.rows = at::empty({lines.count}, at::kLong);
  lines.columns = at::empty({lines.count}, at::kLong);
  std::int64_t column = 0, row = begin_of(0);
  for (auto left = first; left > 0;) {
    const auto step = std::min(left, header.shape[0] - row);
    left -= step, row += step;
    if (row == header.shape[0]) row = begin_of(++column);
  }
  for (std::int64_t i = 0; i < lines.count; ++i) {
    while (row == header.shape[0]) row = begin_of(++column);
    lines.rows.template data_ptr<std::int64_t>()[i] = row++;
    lines.columns.template data_ptr<std::int64_t>()[i] = column;
  }
}

template <class Number>
Triples triples(const Loading& file, const MtxHeader& header, Lines<Number> lines) {
  if (!header.coordinate) place(header, heatpp::detail::place_in_whole(file.comm, lines.count).offset, lines);
  const auto complex = header.field == MtxField::complex;
  auto values = lines.numbers.narrow(0, 0, lines.count * (complex ? 2 : 1));
  if (complex) values = at::view_as_complex(values.view({-1, 2}));
  const Triples found{lines.rows.narrow(0, 0, lines.count), lines.columns.narrow(0, 0, lines.count), values};
  if (header.coordinate || !lines.zeros) return found;
  const auto kept = at::nonzero(values.ne(0)).view(-1);
  return {found.rows.index_select(0, kept), found.columns.index_select(0, kept), values.index_select(0, kept)};
}

/// Adds the other triangle.
Triples mirrored(const MtxHeader& header, const Triples& one) {
  if (header.symmetry == MtxSymmetry::general) return one;
  const auto off = at::nonzero(one.rows.ne(one.columns)).view(-1);
  auto values = one.values.index_select(0, off);
  if (header.symmetry == MtxSymmetry::skew_symmetric) values = -values;
  if (header.symmetry == MtxSymmetry::hermitian) values = values.conj().resolve_conj();
  return {at::cat({one.rows, one.columns.index_select(0, off)}), at::cat({one.columns, one.rows.index_select(0, off)}),
          at::cat({one.values, values})};
}

template <class Number>
DCSRMatrix load_lines(const Loading& file, const MtxHeader& header, io::detail::ByteReader& bytes) {
  Lines<Number> lines;
  all_or_none(file.comm, [&] { lines = parse<Number>(file, header, bytes); });
  std::array<std::int64_t, 1> all{lines.count};
  file.comm.allreduce(all);
  if (all[0] != header.lines)
    raise<IoError>(file.op, "got {} lines of entries in \"{}\"; expected {}, as it says itself", all[0], file.path,
                   header.lines);
  return load_triples(file, header.shape, mirrored(header, triples(file, header, std::move(lines))));
}

DCSRMatrix load_part_of_mtx(const Loading& file) {
  std::unique_ptr<io::detail::ByteReader> bytes;
  MtxHeader header;
  all_or_none(file.comm, [&] {
    bytes = open_text(file);
    header = read_mtx_header(file, *bytes);
  });
  if (header.field == MtxField::integer) return load_lines<std::int64_t>(file, header, *bytes);
  return load_lines<double>(file, header, *bytes);
}

}  // namespace

DCSRMatrix load_mtx(const std::filesystem::path& path, const LoadOptions& options) {
  const Loading file("load_mtx", path, options);
  check_options(file.op, options, {});
  return load_matrix(file, load_part_of_mtx);
}

}  // namespace heatpp::sparse
