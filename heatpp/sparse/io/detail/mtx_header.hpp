#pragma once

#include <heatpp/sparse/io/detail/compressed.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/csv/detail/csv_records.hpp>

namespace heatpp::sparse::detail {

enum class MtxField { real, integer, complex, pattern };
enum class MtxSymmetry { general, symmetric, skew_symmetric, hermitian };

/// What stands before the entries of a Matrix Market file.
struct MtxHeader {
  bool coordinate = true;
  MtxField field = MtxField::real;
  MtxSymmetry symmetry = MtxSymmetry::general;
  Shape shape;
  std::int64_t lines = 0;  ///< of entries, or of the elements of an array
  std::int64_t begin = 0;  ///< of the lines behind it
};

/// Throws IoError for files of another kind. Local.
[[nodiscard]] MtxHeader read_mtx_header(const Loading& file, io::detail::ByteReader& bytes);

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
}

/// Takes the next number, up to a blank or the end of the line. False where there is none.
template <class T>
[[nodiscard]] bool next_number(std::string_view& line, T& value) {
  skip_blanks(line);
  return !line.empty() && io::detail::take_number(line, value) && (line.empty() || is_blank(line.front()));
}
/// Whether nothing but blanks is left.
[[nodiscard]] inline bool at_end(std::string_view line) {
  skip_blanks(line);
  return line.empty();
}
/// Whether a line says nothing: blank, or a comment.
[[nodiscard]] inline bool says_nothing(std::string_view line) { return line.starts_with('%') || at_end(line); }

}  // namespace heatpp::sparse::detail
