#include <heatpp_nn/logging/tensorboard.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/logging/detail/event_file.hpp>
#include <heatpp_nn/logging/picture.hpp>
#include <unistd.h>

#include <ATen/ATen.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace heatpp::nn {

using heatpp::detail::formatted;
using heatpp::detail::raise;

struct TensorBoardWriter::Impl {
  Communicator comm;
  std::string path;
  std::ofstream file;
};

namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string new_file_name() {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return formatted("events.out.tfevents.{:010.0f}.{}.{}", now(), host, ::getpid());
}

detail::Histogram histogram_of(const at::Tensor& values) {
  constexpr int classes = 64;
  const at::NoGradGuard no_grad;
  const auto wide = values.to(at::kCPU, at::kDouble).flatten();
  const auto finite = wide.masked_select(wide.isfinite());
  if (finite.numel() == 0) return {};
  detail::Histogram h{.min = finite.min().item<double>(), .max = finite.max().item<double>()};
  h.count = static_cast<double>(finite.numel());
  h.sum = finite.sum().item<double>();
  h.squares = finite.square().sum().item<double>();
  const auto width = h.max > h.min ? (h.max - h.min) / classes : 1;
  const auto place = ((finite - h.min) / width).to(at::kLong).clamp(0, classes - 1);
  const auto counts = place.bincount({}, classes).to(at::kDouble);
  h.counts.assign(counts.const_data_ptr<double>(), counts.const_data_ptr<double>() + classes);
  for (int i = 1; i < classes; ++i) h.limits.push_back(h.min + i * width);
  h.limits.push_back(h.max > h.min ? h.max : h.min + classes * width);
  return h;
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const Communicator& comm, const std::string& folder)
    : impl_(std::make_unique<Impl>(Impl{comm, {}, {}})) {
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    impl_->path = (std::filesystem::path(folder) / new_file_name()).string();
    impl_->file.open(impl_->path, std::ios::binary);
    impl_->file << detail::tfrecord(detail::version_event(now())) << std::flush;
    if (!impl_->file)
      raise<IoError>("TensorBoardWriter", "got no new file \"{}\"; expected a folder to write to", impl_->path);
  });
}

TensorBoardWriter::~TensorBoardWriter() = default;
TensorBoardWriter::TensorBoardWriter(TensorBoardWriter&&) noexcept = default;
TensorBoardWriter& TensorBoardWriter::operator=(TensorBoardWriter&&) noexcept = default;

void TensorBoardWriter::write(const std::string& event) { impl_->file << detail::tfrecord(event); }

void TensorBoardWriter::scalar(const std::string& tag, double value, std::int64_t step) {
  if (impl_->comm.rank() == 0) write(detail::scalar_event({now(), step, tag}, static_cast<float>(value)));
}

void TensorBoardWriter::histogram(const std::string& tag, const at::Tensor& values, std::int64_t step) {
  if (impl_->comm.rank() != 0) return;
  const auto found = histogram_of(values);
  if (found.count > 0) write(detail::histogram_event({now(), step, tag}, found));
}

void TensorBoardWriter::image(const std::string& tag, const at::Tensor& picture, std::int64_t step) {
  const auto encoded = detail::encoded("TensorBoardWriter", picture);
  if (impl_->comm.rank() != 0) return;
  write(detail::image_event({now(), step, tag}, {encoded.height, encoded.width, encoded.channels, encoded.png}));
}

void TensorBoardWriter::flush() {
  all_or_none(impl_->comm, [&] {
    if (impl_->comm.rank() == 0 && !impl_->file.flush())
      raise<IoError>("TensorBoardWriter", "got a failure to write to \"{}\"; expected room for events", impl_->path);
  });
}

std::string TensorBoardWriter::path() const { return impl_->path; }

}  // namespace heatpp::nn
