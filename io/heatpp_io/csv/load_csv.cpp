#include <heatpp_io/csv/load_csv.hpp>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/csv/detail/csv_plan.hpp>
#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/detail/options/fields.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "load_csv";

void check_options(const LoadCsvOptions& options) {
  constexpr std::string_view in_numbers = "0123456789+-.eEjnaif\r\n";
  const auto delimiter = options.delimiter;
  const auto ends_or_parts_lines = [&](char c) { return c == '\n' || c == '\r' || (c == '\t' && delimiter == ' '); };
  if (delimiter == '\0' || in_numbers.find(delimiter) != std::string_view::npos || delimiter == options.quote ||
      delimiter == options.comment || (options.quote != '\0' && options.quote == options.comment) ||
      ends_or_parts_lines(options.quote) || ends_or_parts_lines(options.comment))
    raise<ValueError>(op,
                      "got delimiter {:?}, quote {:?} and comment {:?}; expected three characters that are not part "
                      "of numbers and do not end lines",
                      std::string_view(&delimiter, 1), std::string_view(&options.quote, 1),
                      std::string_view(&options.comment, 1));
  if (options.header_lines < 0) raise<ValueError>(op, "got header_lines {}; expected 0 or more", options.header_lines);
  if (options.max_rows.value_or(0) < 0) raise<ValueError>(op, "got max_rows {}; expected 0 or more", *options.max_rows);
  heatpp::detail::check_in_range(op, options.missing.value_or(0), options.dtype);
}

/// Returns the columns to read, numbered from 0.
std::vector<std::size_t> columns_of(const LoadCsvOptions& options, std::int64_t count) {
  std::vector<std::size_t> columns;
  for (const auto column : options.columns) {
    if (count == 0) break;  // without rows there are no columns
    if (column < -count || column >= count)
      raise<IndexError>(op, "got column {} of {}; expected {} <= column < {}", column, count, -count, count);
    columns.push_back(static_cast<std::size_t>(column < 0 ? column + count : column));
  }
  if (!options.columns.empty()) return columns;
  columns.resize(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

template <class T>
std::optional<T> missing_value(const LoadCsvOptions& options) {
  if (options.missing) return static_cast<T>(*options.missing);
  if constexpr (std::integral<T>) return std::nullopt;
  else return static_cast<T>(std::numeric_limits<double>::quiet_NaN());
}

/// Parses the parts of one rank into rows of T.
template <class T>
class Parser {
 public:
  Parser(const detail::CsvPlan& plan, const LoadCsvOptions& options, const std::vector<std::size_t>& columns)
      : plan_(plan),
        options_(options),
        columns_(columns),
        missing_(missing_value<T>(options)),
        dialect_{options.delimiter, options.quote, options.comment},
        plain_(is_plain()),
        grammar_(dialect_),
        splitter_(dialect_) {}

  /// Returns the number of rows.
  std::int64_t parse(T* rows) {
    auto* row = rows;
    for (const auto& part : plan_.parts) {
      detail::FileReader file(plan_.paths[part.file], op);
      detail::RecordReader reader(file, plan_.quotes ? &grammar_ : nullptr, part.range);
      while (reader.next()) {
        if (plain_ && take_row(reader.record(), row)) {
          row += plan_.columns;
          continue;
        }
        const auto& fields = splitter_.split(reader.record());
        if (fields.empty()) continue;
        check_row(fields, reader, file, part.file);
        for (const auto column : columns_)
          if (!parse_field(fields[column], *row++)) fail(fields[column], column, line_of(file, reader.at()), part.file);
      }
    }
    return columns_.empty() ? 0 : (row - rows) / std::ssize(columns_);
  }

 private:
  /// Whether rows may be parsed by take_row: no quotes, all columns, no texts for missing values.
  [[nodiscard]] bool is_plain() const {
    return !plan_.quotes && options_.missing_texts.empty() && options_.columns.empty();
  }
  void skip_blanks(std::string_view& record) const {
    const auto is_blank = [&](char c) { return c == ' ' || (c == '\t' && dialect_.delimiter == ' '); };
    while (!record.empty() && is_blank(record.front())) record.remove_prefix(1);
  }
  /// Moves to the next field of a record. Returns false if none begins here.
  [[nodiscard]] bool take_delimiter(std::string_view& record) const {
    const auto before = record.size();
    skip_blanks(record);
    if (dialect_.delimiter == ' ') return record.size() < before;
    if (!record.starts_with(dialect_.delimiter)) return false;
    record.remove_prefix(1);
    skip_blanks(record);
    return true;
  }
  /// Parses a row of numbers that only delimiters and blanks separate. Returns false for other rows, after it may have
  /// written to `row`.
  [[nodiscard]] bool take_row(std::string_view record, T* row) const {
    if constexpr (!detail::ShortNumber<T>) return false;
    else {
      skip_blanks(record);
      for (std::int64_t column = 0; column < plan_.columns; ++column)
        if ((column > 0 && !take_delimiter(record)) || !detail::take_number(record, row[column])) return false;
      skip_blanks(record);
      return record.empty();
    }
  }
  bool parse_field(std::string_view field, T& value) const {
    if (!field.empty() && detail::parse_number(field, value) && (options_.missing_texts.empty() || !is_missing(field)))
      return true;
    if (!missing_ || !is_missing(field)) return false;
    value = *missing_;
    return true;
  }
  [[nodiscard]] bool is_missing(std::string_view field) const {
    return field.empty() || std::ranges::find(options_.missing_texts, field) != options_.missing_texts.end();
  }
  void check_row(const std::vector<std::string_view>& fields, const detail::RecordReader& reader,
                 detail::FileReader& file, std::size_t path) const {
    if (reader.open_quote())
      raise<IoError>(op,
                     "got \"{}\" with a quote in the row of line {} that is not closed; expected a quote before the "
                     "end of the file",
                     plan_.paths[path], line_of(file, reader.at()));
    if (std::ssize(fields) != plan_.columns)
      raise<IoError>(op, "got {} fields in line {} of \"{}\"; expected {}, as in the first row", fields.size(),
                     line_of(file, reader.at()), plan_.paths[path], plan_.columns);
  }
  [[noreturn]] void fail(std::string_view field, std::size_t column, std::int64_t line, std::size_t path) const {
    raise<IoError>(op, "got {:?} in line {}, column {} of \"{}\"; expected a number of {}{}", field.substr(0, 40), line,
                   column, plan_.paths[path], name(options_.dtype),
                   field.empty() ? ", or a value for what is missing"
                   : line == 1   ? ", or header_lines that are left out"
                                 : "");
  }

  const detail::CsvPlan& plan_;
  const LoadCsvOptions& options_;
  const std::vector<std::size_t>& columns_;
  std::optional<T> missing_;
  detail::CsvDialect dialect_;
  bool plain_;
  detail::CsvGrammar grammar_;
  detail::FieldSplitter splitter_;
};

at::Tensor parse_rows(const detail::CsvPlan& plan, const LoadCsvOptions& options,
                      const std::vector<std::size_t>& columns) {
  const auto dtype = heatpp::detail::to_torch(options.dtype);
  auto rows = at::empty({plan.most_rows, std::ssize(columns)}, dtype);
  std::int64_t count = 0;
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, op, [&] {
    count = Parser<scalar_t>(plan, options, columns).parse(rows.template mutable_data_ptr<scalar_t>());
  });
  return rows.narrow(0, 0, count);
}

}  // namespace

DNDarray load_csv(const Source& source, const LoadCsvOptions& options) {
  return detail::load_csv(source, options, [] {});
}

DNDarray detail::load_csv(const Source& source, const LoadCsvOptions& options, const std::function<void()>& check) {
  const detail::Recorder recorder(op);
  const auto& comm = comm_of(options.comm);
  const auto layout_for = [&](const Shape& shape) { return heatpp::detail::layout_of(op, shape, options, comm); };
  heatpp::detail::check_agreed(op, comm, detail::settings_to_read(source, options), [&] {
    check();
    check_options(options);
    static_cast<void>(layout_for({0, 0}));
  });
  const detail::CsvDialect dialect{options.delimiter, options.quote, options.comment};
  const auto plan =
      detail::plan_csv(detail::expand_agreed(source, comm, op, ".csv"), dialect, options.header_lines, comm, op);
  const auto columns = columns_of(options, plan.columns);

  at::Tensor rows;
  all_or_none(comm, [&] { rows = parse_rows(plan, options, columns); });
  auto counts = comm.allgather(rows.size(0));
  auto room = options.max_rows.value_or(std::numeric_limits<std::int64_t>::max());
  for (auto& count : counts) room -= count = std::min(count, room);
  rows = rows.narrow(0, 0, counts[static_cast<std::size_t>(comm.rank())]);
  const auto parsed = Layout::from_counts({0, std::ssize(columns)}, 0, counts);
  auto layout = layout_for(parsed.shape());
  const auto block = heatpp::detail::relayout(heatpp::detail::wrap(std::move(rows), parsed, comm), layout);

  recorder.finish(layout.size() * static_cast<std::int64_t>(itemsize(options.dtype)), std::ssize(plan.paths),
                  {false, "independent: each rank parses its bytes"});
  return heatpp::detail::wrap(block.to(heatpp::detail::to_torch(options.device)), std::move(layout), comm);
}

}  // namespace heatpp::io
