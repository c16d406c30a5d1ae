#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/detail/event_file.hpp>
#include <heatpp_nn/tensorboard.hpp>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace heatpp::nn {

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
  return fmt::format("events.out.tfevents.{:010.0f}.{}.{}", now(), host, ::getpid());
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

void TensorBoardWriter::scalar(const std::string& tag, double value, std::int64_t step) {
  if (impl_->comm.rank() == 0)
    impl_->file << detail::tfrecord(detail::scalar_event(now(), step, tag, static_cast<float>(value)));
}

void TensorBoardWriter::flush() {
  all_or_none(impl_->comm, [&] {
    if (impl_->comm.rank() == 0 && !impl_->file.flush())
      raise<IoError>("TensorBoardWriter", "got a failure to write to \"{}\"; expected room for events", impl_->path);
  });
}

std::string TensorBoardWriter::path() const { return impl_->path; }

}  // namespace heatpp::nn
