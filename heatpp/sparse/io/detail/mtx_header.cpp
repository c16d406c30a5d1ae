#include <heatpp/sparse/io/detail/mtx_header.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>

namespace heatpp::sparse::detail {
namespace {

constexpr std::string_view magic = "%%matrixmarket";
constexpr std::string_view blanks = " \t\r\v\f";

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(blanks)));
  std::string word(line.substr(0, line.find_first_of(blanks)));
  line.remove_prefix(word.size());
  return lower(word);
}

/// Takes the next name, which must be one of `names`.
template <class Names>
std::size_t choice(const Loading& file, std::string_view& line, const Names& names) {
  const auto word = next_word(line);
  const auto found = std::ranges::find(names, word);
  if (found == names.end())
    raise<IoError>(file.op, "got {:?} in the first line of \"{}\"; expected one of {}", word, file.path,
                   heatpp::detail::tuple_text(names));
  return static_cast<std::size_t>(found - names.begin());
}

MtxHeader read_banner(const Loading& file, std::string_view line) {
  line.remove_prefix(magic.size());
  static_cast<void>(choice(file, line, std::array<std::string_view, 1>{"matrix"}));
  MtxHeader header;
  header.coordinate = choice(file, line, std::array<std::string_view, 2>{"coordinate", "array"}) == 0;
  const std::array<std::string_view, 6> fields{"real", "integer", "complex", "pattern", "double", "unsigned-integer"};
  header.field = static_cast<MtxField>(choice(file, line, fields) % 4);
  header.symmetry = static_cast<MtxSymmetry>(
      choice(file, line, std::array<std::string_view, 4>{"general", "symmetric", "skew-symmetric", "hermitian"}));
  const bool pattern = header.field == MtxField::pattern, complex = header.field == MtxField::complex;
  if ((pattern && (!header.coordinate || header.symmetry > MtxSymmetry::symmetric)) ||
      (header.symmetry == MtxSymmetry::hermitian && !complex))
    raise<IoError>(file.op,
                   "got a first line that contradicts itself in \"{}\"; expected patterns by coordinates that "
                   "are general or symmetric, and Hermitian matrices that are complex",
                   file.path);
  return header;
}

/// Returns the number of lines of an array.
std::int64_t elements(const Loading& file, const MtxHeader& header) {
  const auto n = header.shape[0];
  std::int64_t all = 0, half = 0;
  if (__builtin_mul_overflow(n, header.shape[1], &all) || __builtin_mul_overflow(n, n + 1, &half))
    raise<IoError>(file.op, "got an array of shape {} in \"{}\"; expected one that fits in a file",
                   heatpp::to_string(header.shape), file.path);
  if (header.symmetry == MtxSymmetry::general) return all;
  return header.symmetry == MtxSymmetry::skew_symmetric ? half / 2 - n : half / 2;
}

void read_sizes(const Loading& file, std::string_view line, MtxHeader& header) {
  header.shape = {-1, -1};
  bool read = next_number(line, header.shape[0]) && next_number(line, header.shape[1]);
  if (header.coordinate) read = read && next_number(line, header.lines);
  if (!read || !at_end(line) || header.lines < 0)
    raise<IoError>(file.op, "got the sizes {:?} in \"{}\"; expected {}", line, file.path,
                   header.coordinate ? "rows, columns and entries" : "rows and columns");
  check_shape(file, header.shape);
  if (header.symmetry != MtxSymmetry::general && header.shape[0] != header.shape[1])
    raise<IoError>(file.op, "got shape {} for a matrix with a symmetry in \"{}\"; expected a square one",
                   heatpp::to_string(header.shape), file.path);
  if (!header.coordinate) header.lines = elements(file, header);
}

}  // namespace

MtxHeader read_mtx_header(const Loading& file, io::detail::ByteReader& bytes) {
  std::string first(std::min(magic.size(), static_cast<std::size_t>(bytes.size())), '\0');
  bytes.read(0, std::ssize(first), first.data());
  if (lower(first) != magic)
    raise<IoError>(file.op, "got \"{}\", which does not begin with %%MatrixMarket; expected a file of that format",
                   file.path);
  io::detail::RecordReader lines(bytes, nullptr, {0, bytes.size()});
  MtxHeader header;
  bool more = lines.next();
  header = read_banner(file, lines.record());
  do more = lines.next();
  while (more && says_nothing(lines.record()));
  if (!more) raise<IoError>(file.op, "got \"{}\" without sizes; expected a complete file", file.path);
  read_sizes(file, lines.record(), header);
  header.begin = lines.next() ? lines.at() : bytes.size();
  return header;
}

}  // namespace heatpp::sparse::detail
