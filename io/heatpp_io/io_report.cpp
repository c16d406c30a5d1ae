#include <heatpp_io/io_report.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp_io/detail/elements/record.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

IoReport& last_report() {
  static IoReport report;
  return report;
}

}  // namespace

IoReport io_report() { return last_report(); }

std::string to_string(const IoReport& report) {
  if (report.operation.empty()) return "no operation yet";
  const auto gigabytes = static_cast<double>(report.bytes) * 1e-9;
  return heatpp::detail::formatted("{}: {:.3g} GB in {} file{}, {:.3g} s ({:.3g} GB/s), {}", report.operation,
                                   gigabytes, report.files, report.files == 1 ? "" : "s", report.seconds,
                                   gigabytes / std::max(report.seconds, 1e-9),
                                   report.collective ? "collective" : report.reason);
}

void detail::Recorder::finish(std::int64_t bytes, std::int64_t files, const Transfer& transfer) const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  last_report() = {operation_, bytes, files, elapsed.count(), transfer.collective, transfer.reason};
  log(LogLevel::debug, to_string(last_report()));
}

}  // namespace heatpp::io
