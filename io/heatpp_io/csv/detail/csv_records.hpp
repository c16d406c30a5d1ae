#pragma once

#include <array>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <string_view>

namespace heatpp::io::detail {

/// The characters that separate the fields of a text file. Zero stands for a character that the dialect does not use.
struct CsvDialect {
  char delimiter = ',';  ///< ' ' means runs of blanks and tabs
  char quote = '"';
  char comment = '#';
};

/// The state of a reader of RFC 4180's grammar before a byte.
enum class CsvState : std::int8_t { line_start, field_start, field, quoted, quote_in_quoted, comment };
inline constexpr int csv_states = 6;

/// The grammar of RFC 4180 as a table.
class CsvGrammar {
 public:
  explicit CsvGrammar(const CsvDialect& dialect);
  [[nodiscard]] CsvState next(CsvState state, char c) const {
    return table_[static_cast<std::size_t>(state)][static_cast<unsigned char>(c)];
  }
  [[nodiscard]] CsvState after(CsvState state, std::string_view text) const {
    for (const char c : text) state = next(state, c);
    return state;
  }

 private:
  std::array<std::array<CsvState, 256>, csv_states> table_;
};

/// Reads the records of a part of a file: its lines, except that line ends in quotes belong to the record.
class RecordReader {
 public:
  /// `grammar` is null for files without quotes. The objects to which a part refers must outlive it.
  struct Part {
    std::int64_t begin, end;                 ///< records that begin in this range
    CsvState before = CsvState::line_start;  ///< state at `begin`; a record that began before is skipped
  };
  RecordReader(ByteReader& file, const CsvGrammar* grammar, const Part& part);

  /// Moves to the next record. Returns false after the last one.
  [[nodiscard]] bool next();
  /// Returns the record without its line end. It is valid until the next call.
  [[nodiscard]] std::string_view record() const { return record_; }
  /// Returns the place in the file where the record begins.
  [[nodiscard]] std::int64_t at() const { return at_; }
  /// Whether the file ends before the record's quotes do.
  [[nodiscard]] bool open_quote() const { return open_quote_; }

 private:
  [[nodiscard]] bool find_end();
  [[nodiscard]] bool read_more();

  ByteReader& file_;
  const CsvGrammar* grammar_;
  std::int64_t end_, at_, buffer_at_;
  std::string buffer_;
  std::size_t first_ = 0, scanned_ = 0;  // beginning of the next record, end of the search for its end
  CsvState state_;
  std::string_view record_;
  bool open_quote_ = false;
};

/// Returns the number of the line that contains byte `at` of a file, counted from 1.
[[nodiscard]] std::int64_t line_of(ByteReader& file, std::int64_t at);

}  // namespace heatpp::io::detail
