#include <heatpp_io/csv/detail/csv_records.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;

}  // namespace

CsvGrammar::CsvGrammar(const CsvDialect& dialect) {
  using enum CsvState;
  const auto row = [&](CsvState state) -> auto& { return table_[static_cast<std::size_t>(state)]; };
  const auto set = [&](CsvState from, char c, CsvState to) {
    if (c != '\0') row(from)[static_cast<unsigned char>(c)] = to;
  };
  for (const auto state : {line_start, field_start, field, quote_in_quoted}) {
    row(state).fill(field);
    // After blanks a record has begun, but its first field has not.
    const auto blank = state == line_start ? field_start : state == quote_in_quoted ? field : state;
    set(state, ' ', blank);
    set(state, '\t', blank);
    set(state, dialect.delimiter, field_start);
    if (dialect.delimiter == ' ') set(state, '\t', field_start);
    set(state, dialect.comment, comment);
    set(state, '\n', line_start);
  }
  set(line_start, dialect.quote, quoted);
  set(field_start, dialect.quote, quoted);
  set(quote_in_quoted, dialect.quote, quoted);
  row(quoted).fill(quoted);
  set(quoted, dialect.quote, quote_in_quoted);
  row(comment).fill(comment);
  set(comment, '\n', line_start);
}

RecordReader::RecordReader(ByteReader& file, const CsvGrammar* grammar, const Part& part)
    : file_(file), grammar_(grammar), end_(part.end), at_(part.begin), buffer_at_(part.begin), state_(part.before) {
  if (part.before != CsvState::line_start) static_cast<void>(next());
}

bool RecordReader::read_more() {
  const auto behind = buffer_at_ + std::ssize(buffer_);
  const auto more = std::min(std::max(piece_bytes, std::ssize(buffer_)), file_.size() - behind);
  if (more <= 0) return false;
  buffer_.erase(0, first_);
  buffer_at_ += static_cast<std::int64_t>(first_);
  scanned_ -= first_;
  first_ = 0;
  const auto kept = buffer_.size();
  buffer_.resize(kept + static_cast<std::size_t>(more));
  file_.read(behind, more, buffer_.data() + kept);
  return true;
}

/// Moves `scanned_` to the end of the record that begins at `first_`, after its line end, or to the end of the buffer.
bool RecordReader::find_end() {
  if (!grammar_) {
    const auto* found = std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_);
    scanned_ = found ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1 : buffer_.size();
    return found != nullptr;
  }
  for (; scanned_ < buffer_.size(); ++scanned_) {
    state_ = grammar_->next(state_, buffer_[scanned_]);
    if (buffer_[scanned_] == '\n' && state_ == CsvState::line_start) {
      ++scanned_;
      return true;
    }
  }
  return false;
}

bool RecordReader::next() {
  at_ = buffer_at_ + static_cast<std::int64_t>(first_);
  if (at_ >= end_) return false;
  scanned_ = first_;
  bool complete = find_end();
  while (!complete && read_more()) complete = find_end();
  open_quote_ = !complete && state_ == CsvState::quoted;
  record_ = std::string_view(buffer_).substr(first_, scanned_ - first_ - (complete ? 1 : 0));
  if (record_.ends_with('\r')) record_.remove_suffix(1);
  first_ = scanned_;
  state_ = CsvState::line_start;
  return true;
}

std::int64_t line_of(ByteReader& file, std::int64_t at) {
  std::string piece;
  std::int64_t lines = 1;
  for (std::int64_t first = 0; first < at; first += piece_bytes) {
    piece.resize(static_cast<std::size_t>(std::min(piece_bytes, at - first)));
    file.read(first, std::ssize(piece), piece.data());
    lines += std::ranges::count(piece, '\n');
  }
  return lines;
}

}  // namespace heatpp::io::detail
