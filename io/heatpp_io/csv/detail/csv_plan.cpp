#include <heatpp_io/csv/detail/csv_plan.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 20;

/// What the beginnings of the files contain, as numbers that are summed over the ranks.
struct Heads {
  std::vector<std::int64_t> begins, sizes, columns;
};

std::int64_t byte_order_mark(FileReader& file) {
  std::array<char, 3> head{};
  if (file.size() < 3) return 0;
  file.read(0, 3, head.data());
  return std::string_view(head.data(), 3) == "\xef\xbb\xbf" ? 3 : 0;
}

/// Whether a record has numbers only.
bool is_row(const std::vector<std::string_view>& fields) {
  double ignored = 0;
  return std::ranges::all_of(fields, [&](auto field) { return parse_number(field, ignored); });
}

/// A file whose header is skipped.
struct Head {
  const char* op;
  const std::string& path;
  std::int64_t lines;
};

/// Moves the reader to the last line of the header. Comments and blank lines do not count. Throws if the line is a row
/// of numbers and belongs to the header only for this reason, because a caller who counts them would lose the row.
void skip_header(const Head& head, RecordReader& reader, FieldSplitter& splitter) {
  std::int64_t left_out = 0;
  for (std::int64_t line = 0; line < head.lines && reader.next();) {
    if (reader.open_quote())
      heatpp::detail::raise<IoError>(head.op,
                                     "got \"{}\" with a quote in header line {} that is not closed; expected a quote "
                                     "before the end of the file, or '\\0' as quote",
                                     head.path, line + 1);
    const auto& fields = splitter.split(reader.record());
    (fields.empty() ? left_out : line) += 1;
    if (!fields.empty() && line + left_out > head.lines && is_row(fields))
      heatpp::detail::raise<IoError>(
          head.op,
          "got \"{}\" with numbers in header line {}, after {} comments and blank lines; expected header_lines {}, "
          "which do not count these, or '\\0' as comment for a header of numbers",
          head.path, line, left_out, std::max<std::int64_t>(0, head.lines - left_out));
  }
}

void look_at_head(const Head& head, FileReader& file, const CsvDialect& dialect, Heads& heads, std::size_t i) {
  const CsvGrammar grammar(dialect);
  FieldSplitter splitter(dialect);
  RecordReader reader(file, &grammar, {byte_order_mark(file), file.size()});
  skip_header(head, reader, splitter);
  const bool more = reader.next();
  heads.begins[i] = more ? reader.at() : file.size();
  heads.sizes[i] = file.size() - heads.begins[i];
  auto fields = more ? std::ssize(splitter.split(reader.record())) : 0;
  while (fields == 0 && more && reader.next()) fields = std::ssize(splitter.split(reader.record()));
  heads.columns[i] = fields;
}

Heads look_at_heads(CsvPlan& plan, const CsvDialect& dialect, std::int64_t header_lines, const Communicator& comm,
                    const char* op) {
  const auto count = plan.paths.size();
  Heads heads{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count), std::vector<std::int64_t>(count)};
  all_or_none(comm, [&] {
    for (auto i = static_cast<std::size_t>(comm.rank()); i < count; i += static_cast<std::size_t>(comm.size()))
      look_at_head({op, plan.paths[i], header_lines}, plan.opened.file(plan.paths[i], op), dialect, heads, i);
  });
  comm.allreduce(heads.begins);
  comm.allreduce(heads.sizes);
  comm.allreduce(heads.columns);
  return heads;
}

std::vector<CsvPart> own_parts(const Heads& heads, const Communicator& comm) {
  std::int64_t all = 0;
  for (const auto size : heads.sizes) all += size;
  const bool small = heads.sizes.size() == 1 && all <= most_by_first();  // rank 0 takes all of it
  const auto cut = [&](int rank) {
    if (small) return rank > 0 ? all : 0;
    return all / comm.size() * rank + std::min<std::int64_t>(rank, all % comm.size());
  };
  const auto first = cut(comm.rank()), last = cut(comm.rank() + 1);
  std::vector<CsvPart> parts;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < heads.sizes.size(); before += heads.sizes[i++]) {
    const auto from = std::max(first - before, std::int64_t{0}), to = std::min(last - before, heads.sizes[i]);
    if (from < to) parts.push_back({i, {heads.begins[i] + from, heads.begins[i] + to}});
  }
  return parts;
}

/// Passes the bytes of the parts to `use`, piece by piece.
void each_piece(CsvPlan& plan, const char* op,
                const std::function<void(std::size_t part, std::string_view piece)>& use) {
  std::string piece;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    const auto& range = plan.parts[i].range;
    auto& file = plan.opened.file(plan.paths[plan.parts[i].file], op);
    for (auto at = range.begin; at < range.end; at += piece_bytes) {
      piece.resize(static_cast<std::size_t>(std::min(piece_bytes, range.end - at)));
      file.read(at, std::ssize(piece), piece.data());
      use(i, piece);
    }
  }
}

/// Counts a character with vectors of byte counters, which do not overflow in 255 steps.
HEATPP_SIMD std::int64_t count_of(char wanted, std::string_view text) {
  constexpr std::size_t width = 64, steps = 255;
  std::int64_t count = 0;
  while (text.size() >= width) {
    std::array<std::uint8_t, width> counters{};
    for (std::size_t step = 0; step < steps && text.size() >= width; ++step, text.remove_prefix(width))
      for (std::size_t i = 0; i < width; ++i)
        counters[i] = static_cast<std::uint8_t>(counters[i] + (text[i] == wanted));
    for (const auto counter : counters) count += counter;
  }
  return count + std::ranges::count(text, wanted);
}

/// Counts lines and looks for quotes.
void survey(CsvPlan& plan, const CsvDialect& dialect, const Communicator& comm, const char* op) {
  std::array<std::int64_t, 1> quotes{0};
  std::int64_t bytes = 0, lines = 0;
  all_or_none(comm, [&] {
    each_piece(plan, op, [&](std::size_t, std::string_view piece) {
      bytes += std::ssize(piece);
      lines += count_of('\n', piece);
      if (dialect.quote != '\0' && quotes[0] == 0)
        quotes[0] = std::memchr(piece.data(), dialect.quote, piece.size()) != nullptr;
    });
  });
  comm.allreduce(quotes, ReduceOp::max);
  plan.quotes = quotes[0] != 0;
  // A row has at least one byte for each column. The last row of a part may end after the part.
  plan.most_rows = std::ssize(plan.parts) + std::min(lines, bytes / std::max<std::int64_t>(1, plan.columns));
}

/// Whether the first part begins inside a file's data. Then the state at its beginning has to be determined.
bool begins_inside(const CsvPlan& plan, const Heads& heads) {
  return !plan.parts.empty() && plan.parts[0].range.begin > heads.begins[plan.parts[0].file];
}

CsvState state_without_quotes(CsvPlan& plan, const char* op) {
  char before = 0;
  plan.opened.file(plan.paths[plan.parts[0].file], op).read(plan.parts[0].range.begin - 1, 1, &before);
  return before == '\n' ? CsvState::line_start : CsvState::field;
}

/// The state to which a part of a file leads from each state.
using Leads = std::array<std::int8_t, csv_states>;
constexpr Leads nowhere_else{0, 1, 2, 3, 4, 5};

/// Sends `mine` to the rank `far` ranks after this one. Returns what comes from the rank `far` ranks before it.
Leads from_before(Leads mine, int far, const Communicator& comm) {
  auto before = nowhere_else;
  constexpr std::int64_t bytes = sizeof mine;
  heatpp::detail::Sends send;
  heatpp::detail::Receives receive;
  if (comm.rank() + far < comm.size())
    send.push_back({comm.rank() + far, {reinterpret_cast<const std::byte*>(mine.data()), 1, bytes, bytes}});
  if (comm.rank() >= far)
    receive.push_back({comm.rank() - far, {reinterpret_cast<std::byte*>(before.data()), 1, bytes, bytes}});
  heatpp::detail::exchange_with(comm, std::move(send), std::move(receive));
  return before;
}

/// Returns the state to which the ranks before this one lead. Twice as many ranks are composed at each step.
CsvState state_before(Leads mine, const Communicator& comm) {
  for (int far = 1; far < comm.size(); far *= 2) {
    auto whole = from_before(mine, far, comm);
    for (auto& state : whole) state = mine[static_cast<std::size_t>(state)];
    mine = whole;
  }
  return static_cast<CsvState>(from_before(mine, 1, comm)[0]);
}

/// Returns the state at the beginning of this rank's first part. Every rank computes the state to which its bytes lead
/// from each state; these functions are composed in rank order.
CsvState state_with_quotes(CsvPlan& plan, const Heads& heads, const CsvDialect& dialect, const Communicator& comm,
                           const char* op) {
  const CsvGrammar grammar(dialect);
  auto leads_to = nowhere_else;
  all_or_none(comm, [&] {
    std::size_t part = 0;
    if (!begins_inside(plan, heads) && !plan.parts.empty()) leads_to.fill(0);
    each_piece(plan, op, [&](std::size_t i, std::string_view piece) {
      if (i != std::exchange(part, i)) leads_to.fill(0);  // a new file begins
      Leads next;
      next.fill(-1);
      for (auto& state : leads_to) {
        auto& known = next[static_cast<std::size_t>(state)];
        if (known < 0) known = static_cast<std::int8_t>(grammar.after(static_cast<CsvState>(state), piece));
        state = known;
      }
    });
  });
  return state_before(leads_to, comm);
}

}  // namespace

CsvPlan plan_csv(std::vector<std::string> paths, const CsvDialect& dialect, std::int64_t header_lines,
                 const Communicator& comm, const char* op) {
  CsvPlan plan;
  plan.paths = std::move(paths);
  const auto heads = look_at_heads(plan, dialect, header_lines, comm, op);
  for (const auto columns : heads.columns)
    if (plan.columns == 0) plan.columns = columns;
  plan.parts = own_parts(heads, comm);
  survey(plan, dialect, comm, op);
  auto before = CsvState::line_start;
  if (plan.quotes) before = state_with_quotes(plan, heads, dialect, comm, op);
  all_or_none(comm, [&] {
    if (!begins_inside(plan, heads)) return;
    plan.parts[0].range.before = plan.quotes ? before : state_without_quotes(plan, op);
  });
  return plan;
}

}  // namespace heatpp::io::detail
