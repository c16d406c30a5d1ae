#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/aside_file.hpp>
#include <heatpp_nn/checkpoint.hpp>
#include <heatpp_nn/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <sstream>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

constexpr auto op = "checkpoint";
constexpr auto optimizer_key = "heatpp_optimizer";
constexpr auto training_key = "heatpp_training";

std::string serialized(const DASO& daso, const detail::Training& training) {
  torch::serialize::OutputArchive archive, optimizer, rest;
  daso.replica().shared_module()->save(archive);
  daso.optimizer().save(optimizer);
  detail::write(rest, training);
  archive.write(optimizer_key, optimizer);
  archive.write(training_key, rest);
  std::ostringstream stream;
  archive.save_to(stream);
  return std::move(stream).str();
}

/// The file's bytes on every rank, though perhaps only rank 0 can see it.
std::string shared_file(const Communicator& comm, const std::string& path) {
  std::string bytes;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) bytes = io::detail::read_file(op, path);
  });
  std::array<std::int64_t, 1> size{std::ssize(bytes)};
  comm.broadcast(size, 0);
  bytes.resize(static_cast<std::size_t>(size[0]));
  comm.broadcast({bytes.data(), size[0], int8}, 0);
  return bytes;
}

/// The tensors of a module, to be put back where loading fails.
class Backup {
 public:
  explicit Backup(const torch::nn::Module& module) : tensors_(module.parameters()) {
    const auto buffers = module.buffers();
    tensors_.insert(tensors_.end(), buffers.begin(), buffers.end());
    for (const auto& tensor : tensors_) copies_.push_back(tensor.detach().clone());
  }
  void restore() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].set_data(copies_[i]);
  }
  [[nodiscard]] bool same_kind() const {
    return std::equal(tensors_.begin(), tensors_.end(), copies_.begin(), [](const auto& now, const auto& before) {
      return now.sizes() == before.sizes() && now.scalar_type() == before.scalar_type();
    });
  }

 private:
  std::vector<at::Tensor> tensors_, copies_;
};

detail::Training load_archive(const std::string& bytes, const DASO& daso) {
  torch::serialize::InputArchive archive, optimizer, rest;
  archive.load_from(bytes.data(), bytes.size());
  archive.read(optimizer_key, optimizer);
  archive.read(training_key, rest);
  auto training = detail::read_training(rest);
  Backup backup(*daso.replica().shared_module());
  try {
    daso.replica().shared_module()->load(archive);
    if (!backup.same_kind()) throw std::runtime_error("parameters of other shapes or dtypes");
    if (daso.replica().checksum() != training.checksum) throw std::runtime_error("weights that fail their checksum");
    daso.optimizer().load(optimizer);
  } catch (...) {
    backup.restore();
    throw;
  }
  return training;
}

// LibTorch's messages carry a stack trace after the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void save_checkpoint(const std::string& path, DASO& daso, std::int64_t epoch) {
  daso.drain();
  const auto& comm = daso.replica().topology().comm();
  const detail::Training training{daso.state(), epoch, daso.replica().checksum(), detail::gather_generators(comm)};
  all_or_none(comm, [&] {
    if (comm.rank() == 0) io::detail::write_atomically(op, path, serialized(daso, training));
  });
}

std::int64_t load_checkpoint(const std::string& path, DASO& daso) {
  const auto& comm = daso.replica().topology().comm();
  const auto bytes = shared_file(comm, path);
  detail::Training training;
  all_or_none(comm, [&] {
    try {
      training = load_archive(bytes, daso);
    } catch (const std::exception& error) {
      raise<IoError>(op, "got \"{}\" ({}); expected a checkpoint of this module and optimizer", path,
                     first_line(error.what()));
    }
  });
  daso.set_state(training.daso);
  detail::restore_generator(comm, training.generators);
  return training.epoch;
}

}  // namespace heatpp::nn
