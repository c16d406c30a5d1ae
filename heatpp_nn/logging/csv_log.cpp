#include <heatpp_nn/logging/csv_log.hpp>

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <limits>

namespace heatpp::nn {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = "CsvLog";

/// Returns the header. Every name is one field.
std::string header_of(const std::vector<std::string>& columns) {
  std::vector<std::string> fields;
  for (const auto& name : columns) {
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    fields.push_back(name.find_first_of(",\"\n") == std::string::npos ? name : quoted + '"');
  }
  return formatted("{}\n", fmt::join(fields, ","));
}

double first_value(std::string_view line) {
  double value = -std::numeric_limits<double>::infinity();
  std::from_chars(line.data(), line.data() + line.size(), value);
  return value;
}

/// Returns the header and the complete rows before `resume_at`.
std::string continued(const std::string& text, const std::string& header, double resume_at, const std::string& path) {
  if (!text.starts_with(header))
    raise<ValueError>(op, "got \"{}\", whose first line is \"{}\"; expected \"{}\"", path,
                      text.substr(0, text.find('\n')), header.substr(0, header.size() - 1));
  auto kept = header;
  for (auto at = header.size(), end = text.find('\n', at); end != std::string::npos; end = text.find('\n', at)) {
    const std::string_view line(text.data() + at, end + 1 - at);
    if (first_value(line) < resume_at) kept += line;
    at = end + 1;
  }
  return kept;
}

void begin_file(const std::string& path, const std::string& header, double resume_at) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored) && std::filesystem::file_size(path, ignored) > 0;
  io::detail::write_atomically(op, path,
                               exists ? continued(io::detail::read_file(op, path), header, resume_at, path) : header);
}

}  // namespace

struct CsvLog::Impl {
  Communicator comm;
  std::string path;
  std::size_t columns;
  std::optional<io::detail::Descriptor> file = {};
  bool failed = false;
};

CsvLog::CsvLog(const Communicator& comm, const std::string& path, const CsvLogOptions& options)
    : impl_(new Impl{comm, path, options.columns.size()}) {
  if (options.columns.empty()) raise<ValueError>(op, "got no columns; expected at least one");
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    begin_file(path, header_of(options.columns), options.resume_at);
    impl_->file.emplace(path, O_WRONLY | O_APPEND);
  });
}
CsvLog::~CsvLog() = default;
CsvLog::CsvLog(CsvLog&&) noexcept = default;
CsvLog& CsvLog::operator=(CsvLog&&) noexcept = default;

void CsvLog::row(std::span<const double> values) {
  if (values.size() != impl_->columns)
    raise<ValueError>(op, "got {} values; expected one for each of {} columns", values.size(), impl_->columns);
  if (!impl_->file) return;
  const auto line = formatted("{}\n", fmt::join(values, ","));
  impl_->failed |= ::write(impl_->file->get(), line.data(), line.size()) != std::ssize(line);
}

void CsvLog::check() {
  all_or_none(impl_->comm, [&] {
    if (impl_->failed) raise<IoError>(op, "got an error while writing to \"{}\"; expected room for rows", impl_->path);
  });
}

}  // namespace heatpp::nn
