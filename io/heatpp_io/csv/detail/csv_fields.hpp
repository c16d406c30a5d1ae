#pragma once

#include <deque>
#include <heatpp_io/csv/detail/csv_records.hpp>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// Returns `text` without the characters `of` at its ends.
[[nodiscard]] std::string_view stripped(std::string_view text, std::string_view of = " \t\r\n");

/// Splits records into fields.
class FieldSplitter {
 public:
  explicit FieldSplitter(const CsvDialect& dialect) : dialect_(dialect) {}

  /// Returns the fields of a record without quotes and surrounding blanks. They are valid until the next call. Blank
  /// lines and comments have no fields.
  const std::vector<std::string_view>& split(std::string_view record);

 private:
  std::string_view take_quoted(std::string_view& rest);
  std::string_view take_plain(std::string_view& rest);
  [[nodiscard]] bool blanks() const { return dialect_.delimiter == ' '; }

  CsvDialect dialect_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // a deque never moves its elements
};

}  // namespace heatpp::io::detail
