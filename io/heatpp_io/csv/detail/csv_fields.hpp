#pragma once

#include <deque>
#include <heatpp_io/csv/detail/csv_records.hpp>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// `text` without such characters at its ends.
[[nodiscard]] std::string_view stripped(std::string_view text, std::string_view of = " \t\r\n");

/// Takes records apart.
class FieldSplitter {
 public:
  explicit FieldSplitter(const CsvDialect& dialect) : dialect_(dialect) {}

  /// The fields of a record without quotes and blanks around them, until the next call; none for blank lines and
  /// comments.
  const std::vector<std::string_view>& split(std::string_view record);

 private:
  std::string_view take_quoted(std::string_view& rest);
  std::string_view take_plain(std::string_view& rest);
  [[nodiscard]] bool blanks() const { return dialect_.delimiter == ' '; }

  CsvDialect dialect_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // which never moves its elements
};

}  // namespace heatpp::io::detail
