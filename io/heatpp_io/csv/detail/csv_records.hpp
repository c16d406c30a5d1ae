#pragma once

#include <array>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <string_view>

namespace heatpp::io::detail {

/// What separates the fields of a text file. Zero stands for a character that it has not.
struct CsvDialect {
  char delimiter = ',';  ///< ' ' for runs of blanks and tabs
  char quote = '"';
  char comment = '#';
};

/// Where the byte before a position leaves a reader of RFC 4180's grammar.
enum class CsvState : std::int8_t { line_start, field_start, field, quoted, quote_in_quoted, comment };
inline constexpr int csv_states = 6;

/// That grammar as a table.
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

/// The records of a part of a file: lines, but for line ends in quotes.
class RecordReader {
 public:
  /// `grammar` is null for files without quotes. What refers to must outlive it.
  struct Part {
    std::int64_t begin, end;                 ///< records that begin in this range
    CsvState before = CsvState::line_start;  ///< the state at `begin`; a record under way there is left out
  };
  RecordReader(ByteReader& file, const CsvGrammar* grammar, const Part& part);

  /// Moves to the next record; false behind the last one.
  [[nodiscard]] bool next();
  /// The record, without its line end, until the next call.
  [[nodiscard]] std::string_view record() const { return record_; }
  /// Where it begins in the file.
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
  std::size_t first_ = 0, scanned_ = 0;  // of the record after the current one, and how far its end was looked for
  CsvState state_;
  std::string_view record_;
  bool open_quote_ = false;
};

/// The number of the line in which byte `at` of a file lies, counted from 1.
[[nodiscard]] std::int64_t line_of(ByteReader& file, std::int64_t at);

}  // namespace heatpp::io::detail
