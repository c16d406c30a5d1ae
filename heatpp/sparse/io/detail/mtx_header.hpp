#pragma once

#include <heatpp/sparse/io/detail/compressed.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/csv/detail/csv_records.hpp>

namespace heatpp::sparse::detail {

enum class MtxField { real, integer, complex, pattern };
enum class MtxSymmetry { general, symmetric, skew_symmetric, hermitian };

/// The part of a Matrix Market file before the entries.
struct MtxHeader {
  bool coordinate = true;
  MtxField field = MtxField::real;
  MtxSymmetry symmetry = MtxSymmetry::general;
  Shape shape;
  std::int64_t lines = 0;  ///< number of entries, or of an array's elements
  std::int64_t begin = 0;  ///< beginning of the lines after it
};

/// Reads the header. Throws IoError for other files. Local.
[[nodiscard]] MtxHeader read_mtx_header(const Loading& file, io::detail::ByteReader& bytes);

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
}

/// Takes the next number, up to a blank or the end of the line. Returns false if there is none.
template <class T>
[[nodiscard]] bool next_number(std::string_view& line, T& value) {
  skip_blanks(line);
  return !line.empty() && io::detail::take_number(line, value) && (line.empty() || is_blank(line.front()));
}
/// Whether only blanks are left.
[[nodiscard]] inline bool at_end(std::string_view line) {
  skip_blanks(line);
  return line.empty();
}
/// Whether a line is blank or a comment.
[[nodiscard]] inline bool says_nothing(std::string_view line) { return line.starts_with('%') || at_end(line); }

}  // namespace heatpp::sparse::detail
