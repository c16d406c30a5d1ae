#include <heatpp_io/csv/detail/csv_fields.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

constexpr std::string_view blank = " \t", line_end = "\r\n";

void strip_front(std::string_view& text, std::string_view of) {
  text.remove_prefix(std::min(text.find_first_not_of(of), text.size()));
}
void strip_back(std::string_view& text, std::string_view of) { text = text.substr(0, text.find_last_not_of(of) + 1); }

}  // namespace

std::string_view stripped(std::string_view text, std::string_view of) {
  strip_front(text, of);
  strip_back(text, of);
  return text;
}

/// Returns the text between the quotes with which `rest` begins, and moves `rest` to the text after them.
std::string_view FieldSplitter::take_quoted(std::string_view& rest) {
  rest.remove_prefix(1);
  std::string* joined = nullptr;
  while (true) {
    const auto end = std::min(rest.find(dialect_.quote), rest.size());
    const auto part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool doubled = !rest.empty() && rest.front() == dialect_.quote;
    if (!joined && !doubled) return part;
    if (!joined) joined = &unescaped_.emplace_back();
    joined->append(part);
    if (!doubled) return *joined;
    joined->push_back(dialect_.quote);
    rest.remove_prefix(1);
  }
}

std::string_view FieldSplitter::take_plain(std::string_view& rest) {
  const auto end = std::ranges::find_if(rest, [&](char c) {
    return c == dialect_.delimiter || (blanks() && c == '\t') || (dialect_.comment != '\0' && c == dialect_.comment);
  });
  const auto field = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(field.size());
  return field;
}

const std::vector<std::string_view>& FieldSplitter::split(std::string_view rest) {
  fields_.clear();
  unescaped_.clear();
  strip_back(rest, line_end);  // a carriage return is not a blank in other places
  const auto at_end = [&] { return rest.empty() || (dialect_.comment != '\0' && rest.front() == dialect_.comment); };
  const auto between = dialect_.delimiter == '\t' ? std::string_view(" ") : blank;
  strip_front(rest, between);
  if (at_end()) return fields_;
  while (true) {
    strip_front(rest, between);
    const bool is_quoted = dialect_.quote != '\0' && !rest.empty() && rest.front() == dialect_.quote;
    const auto inside = is_quoted ? take_quoted(rest) : std::string_view();
    const auto plain = take_plain(rest);
    if (!is_quoted) fields_.push_back(stripped(plain, blank));
    else if (stripped(plain, blank).empty()) fields_.push_back(stripped(inside));
    else
      fields_.push_back(stripped(unescaped_.emplace_back(inside).append(plain)));  // text after quotes, as Python's csv
    if (blanks()) strip_front(rest, blank);
    if (at_end()) return fields_;
    if (!blanks()) rest.remove_prefix(1);
  }
}

}  // namespace heatpp::io::detail
