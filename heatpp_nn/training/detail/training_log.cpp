#include <heatpp_nn/training/detail/training_log.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <limits>

namespace heatpp::nn::detail {
namespace {

const std::filesystem::path& made(const Communicator& comm, const std::filesystem::path& folder) {
  make_folder(comm, folder);
  return folder;
}

std::vector<std::string> columns(const std::vector<std::string>& metrics) {
  std::vector<std::string> all{"batch", "epoch", "loss", "validation loss"};
  all.insert(all.end(), metrics.begin(), metrics.end());
  return all;
}

}  // namespace

void make_folder(const Communicator& comm, const std::filesystem::path& folder) {
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      heatpp::detail::raise<IoError>("Trainer", "got \"{}\" for the folder \"{}\"; expected one that can be made",
                                     error.message(), folder.string());
  });
}

TrainingLog::TrainingLog(const Communicator& comm, const std::filesystem::path& folder,
                         const std::vector<std::string>& metrics, double from)
    : comm_(comm),
      folder_(made(comm, folder)),
      metrics_(metrics),
      table_(comm, (folder / "log.csv").string(), {.columns = columns(metrics), .resume_at = from}),
      events_(comm, (folder / "tensorboard").string()) {}

void TrainingLog::batches(std::int64_t first, std::span<const double> losses, const RateSchedule& rate) {
  for (const auto loss : losses) {
    at_.push_back(static_cast<double>(first));
    losses_.push_back(loss);
    events_.scalar("train/loss", loss, first);
    if (rate) events_.scalar("train/learning_rate", rate(first), first);
    ++first;
  }
}

void TrainingLog::epoch(std::int64_t batches, const EpochResult& result) {
  constexpr auto none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> row{static_cast<double>(batches), static_cast<double>(result.epoch), result.loss,
                          result.validation ? result.validation->loss : none};
  for (const auto& metric : metrics_) row.push_back(result.validation ? result.validation->metrics.at(metric) : none);
  table_.row(row);
  table_.check();
  if (result.validation) {
    validated_at_.push_back(static_cast<double>(batches));
    validated_.push_back(result.validation->loss);
    events_.scalar("validation/loss", result.validation->loss, batches);
    for (const auto& [name, value] : result.validation->metrics) events_.scalar("validation/" + name, value, batches);
  }
  events_.flush();
}

void TrainingLog::draw(const DASO* daso, std::int64_t batches) const {
  if (at_.empty()) return;  // an existing picture shows more
  LossPlot plot;
  plot.add_curve("loss", at_, losses_);
  if (losses_.size() > 100) plot.add_curve("loss, smoothed", at_, smoothed(losses_, 31));
  if (!validated_.empty()) plot.add_curve("validation loss", validated_at_, validated_);
  if (daso) plot.shade_phases(daso->events(), batches);
  plot.save(comm_, (folder_ / "loss.svg").string());
}

}  // namespace heatpp::nn::detail
