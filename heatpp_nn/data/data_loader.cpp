#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/data/detail/samples.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <future>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;

/// Memory for `count` rows like those of `rows`; kept where it fits already.
void make_room(at::Tensor& room, const at::Tensor& rows, std::int64_t count) {
  auto sizes = rows.sizes().vec();
  sizes.front() = count;
  if (!room.defined() || room.sizes() != at::IntArrayRef(sizes)) room = at::empty(sizes, rows.options());
}

void take(at::Tensor& room, const at::Tensor& rows, const at::Tensor& place) {
  make_room(room, rows, place.numel());
  at::index_select_out(room, rows, 0, place.to(rows.device()));
}

}  // namespace

/// The rows of an epoch, some batches at a time.
struct DataLoader::Epoch::Windows {
  Dataset dataset;
  DistributedSampler sampler;
  std::int64_t epoch;
  std::int64_t batches = 0;         // of a window
  std::int64_t first = 0, end = 0;  // batches of the current one
  at::Tensor numbers = {};
  detail::Window window = {};
  std::future<detail::Window> next = {};

  [[nodiscard]] std::int64_t end_after(std::int64_t batch) const {
    return std::min(batch + batches, sampler.batches());
  }

  void read_ahead(std::int64_t from) {
    if (from == sampler.batches()) return;
    next = std::async(std::launch::async, [samples = dataset, rows = sampler.rows(epoch, from, end_after(from))] {
      return samples.samples().reach(rows);
    });
  }

  void move_to(std::int64_t batch) {
    if (dataset.is_stored() && !next.valid()) read_ahead(batch);
    numbers = sampler.rows(epoch, batch, end_after(batch));
    if (dataset.is_stored()) all_or_none(dataset.comm(), [&] { window = next.get(); });
    else if (sampler.stays_on_rank()) window = dataset.samples().reach(numbers);
    else window = dataset.samples().fetch(numbers);
    first = batch;
    end = end_after(batch);
    if (dataset.is_stored()) read_ahead(end);
  }

  /// Where the rows of a batch are in those of the window; all batches before it are full, or have the last rows.
  [[nodiscard]] at::Tensor part(const at::Tensor& of_window, std::int64_t batch) const {
    const auto before = std::min((batch - first) * sampler.batch_size(), of_window.numel());
    return of_window.narrow(0, before, sampler.count(batch));
  }
};

DataLoader::DataLoader(const Dataset& dataset, const SamplerOptions& options, std::vector<Transform> transforms)
    : dataset_(dataset),
      sampler_(dataset.layout(), dataset.comm().rank(), options),
      transforms_(std::move(transforms)),
      position_{options.seed, 0, 0} {}

DataLoader::Epoch DataLoader::epoch(std::int64_t number, std::int64_t first) {
  return epoch({sampler_.options().seed, number, first});
}

DataLoader::Epoch DataLoader::epoch(const Position& position) {
  if (position.seed != sampler_.options().seed || position.batch < 0 || position.batch > batches())
    raise<ValueError>("DataLoader", "got batch {} of seed {}; expected 0 to {} of seed {}", position.batch,
                      position.seed, batches(), sampler_.options().seed);
  position_ = position;
  return {*this, position.epoch, position.batch};
}

DataLoader::Epoch::Epoch(DataLoader& loader, std::int64_t number, std::int64_t first)
    : loader_(&loader), number_(number), first_(first) {
  const auto& samples = loader.dataset_.samples();
  const auto batch_bytes = std::max<std::int64_t>(1, loader.batch_size() * samples.row_bytes());
  const bool all = !samples.is_stored() && loader.sampler_.stays_on_rank();
  const auto batches = all ? loader.batches() : std::max<std::int64_t>(1, samples.window_bytes() / batch_bytes);
  windows_.reset(new Windows{loader.dataset_, loader.sampler_, number, batches, first, first});
}
DataLoader::Epoch::~Epoch() = default;
DataLoader::Epoch::Epoch(Epoch&&) noexcept = default;
DataLoader::Epoch& DataLoader::Epoch::operator=(Epoch&&) noexcept = default;

const Batch& DataLoader::Epoch::load(std::int64_t batch) const {
  if (batch < windows_->first || batch >= windows_->end) windows_->move_to(batch);
  const auto place = windows_->part(windows_->window.place, batch);
  take(loader_->memory_.inputs, windows_->window.rows.inputs, place);
  take(loader_->memory_.targets, windows_->window.rows.targets, place);
  loader_->batch_ = loader_->memory_;
  const BatchContext context{loader_->sampler_.options().seed, number_, windows_->part(windows_->numbers, batch)};
  for (const auto& transform : loader_->transforms_) transform(loader_->batch_, context);
  loader_->position_ = {context.seed, number_, batch + 1};
  return loader_->batch_;
}

}  // namespace heatpp::nn
