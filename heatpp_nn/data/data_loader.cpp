#include <heatpp_nn/data/data_loader.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/detail/samples.hpp>

#include <ATen/ATen.h>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <deque>
#include <future>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;

/// Provides memory for `count` rows like those of `rows`; keeps it if it fits already. The network may have asked for
/// gradients of the last batch's inputs, which this one does not have.
void make_room(at::Tensor& room, const at::Tensor& rows, std::int64_t count) {
  auto sizes = rows.sizes().vec();
  sizes.front() = count;
  if (!room.defined() || room.sizes() != at::IntArrayRef(sizes)) room = at::empty(sizes, rows.options());
  else room = room.detach();
}

void take(at::Tensor& room, const at::Tensor& rows, const at::Tensor& place) {
  make_room(room, rows, place.numel());
  at::index_select_out(room, rows, 0, place.to(rows.device()));
}

/// Starts the copy of a batch to a device, if there is one in the options.
Batch on_device(Batch batch, const std::optional<at::Device>& device) {
  if (!device) return batch;
  for (auto* field : batch.fields())
    *field = device->is_cuda() && field->is_cpu() ? field->pin_memory().to(*device, true) : field->to(*device);
  return batch;
}

/// Returns the GPU stream in which the caller computes.
std::optional<c10::Stream> current_stream(const std::optional<at::Device>& device) {
  if (!device || !device->is_cuda()) return std::nullopt;
  const c10::impl::VirtualGuardImpl devices(device->type());
  return devices.getStream(device->has_index() ? *device : devices.getDevice());
}

}  // namespace

/// The rows of an epoch, several batches at a time.
struct DataLoader::Epoch::Windows {
  Dataset dataset;
  DistributedSampler sampler;
  std::int64_t epoch;
  std::ptrdiff_t readers;
  std::int64_t batches = 0;         // batches of a window
  std::int64_t first = 0, end = 0;  // batches of the current window
  at::Tensor numbers = {};
  detail::Window window = {};
  std::int64_t next_first = 0, next_end = 0;  // batches of the windows that are read ahead
  std::deque<std::future<detail::Window>> next = {};
  std::deque<std::future<Batch>> prepared = {};  // batches of the current window
  std::int64_t first_prepared = 0;

  [[nodiscard]] std::int64_t end_after(std::int64_t batch) const {
    return std::min(batch + batches, sampler.batches());
  }

  void read_ahead() {
    for (; std::ssize(next) < readers && next_end < sampler.batches(); next_end = end_after(next_end))
      next.push_back(std::async(std::launch::async,
                                [samples = dataset, rows = sampler.rows(epoch, next_end, end_after(next_end))] {
                                  return samples.samples().reach(rows);
                                }));
  }

  void read(std::int64_t batch) {
    if (next.empty() || next_first != batch) {
      next.clear();
      next_end = batch;
      read_ahead();
    }
    auto read = std::move(next.front());
    next.pop_front();
    next_first = end_after(batch);
    all_or_none(dataset.comm(), [&] { window = read.get(); });
    read_ahead();
  }

  void move_to(std::int64_t batch) {
    prepared.clear();
    numbers = sampler.rows(epoch, batch, end_after(batch));
    if (dataset.is_stored()) read(batch);
    else if (sampler.stays_on_rank()) window = dataset.samples().reach(numbers);
    else window = dataset.samples().fetch(numbers);
    first = batch;
    end = end_after(batch);
  }

  /// Returns the places of a batch's rows in the window. All batches before it are full, or contain the last rows.
  [[nodiscard]] at::Tensor part(const at::Tensor& of_window, std::int64_t batch) const {
    const auto before = std::min((batch - first) * sampler.batch_size(), of_window.numel());
    return of_window.narrow(0, before, sampler.count(batch));
  }
  [[nodiscard]] BatchContext context(std::int64_t batch) const {
    return {sampler.options().seed, epoch, part(numbers, batch)};
  }

  /// Returns a batch in memory of its own.
  [[nodiscard]] Batch prepare(const DataLoader& loader, std::int64_t batch) const {
    const auto place = part(window.place, batch);
    Tensors rows;
    for (const auto& field : window.rows) rows.push_back(field.index_select(0, place.to(field.device())));
    return loader.transformed(rows, context(batch));
  }

  /// Returns a batch that a worker has prepared; later ones are under way.
  Batch take_prepared(const DataLoader& loader, std::int64_t batch) {
    if (first_prepared != batch) prepared.clear();
    const auto wanted = std::min<std::int64_t>(end - batch, 1 + loader.prefetch_.workers);
    while (std::ssize(prepared) < wanted)
      prepared.push_back(std::async(std::launch::async, [this, &loader, number = batch + std::ssize(prepared),
                                                         stream = current_stream(loader.prefetch_.device)] {
        const c10::OptionalStreamGuard same_stream(stream);
        return prepare(loader, number);
      }));
    auto ready = std::move(prepared.front());
    prepared.pop_front();
    first_prepared = batch + 1;
    return ready.get();
  }
};

DataLoader::DataLoader(const Dataset& dataset, const SamplerOptions& options, std::vector<Transform> transforms)
    : dataset_(dataset),
      sampler_(dataset.layout(), dataset.comm().rank(), options),
      transforms_(std::move(transforms)),
      position_{options.seed, 0, 0, 0} {}

void DataLoader::prefetch(const PrefetchOptions& options) {
  if (options.readers < 1 || options.workers < 0)
    raise<ValueError>("DataLoader", "got {} readers and {} workers; expected at least 1 and 0", options.readers,
                      options.workers);
  prefetch_ = options;
}

Batch DataLoader::transformed(const Tensors& rows, const BatchContext& context) const {
  auto batch = detail::batch_of(rows, dataset_.samples().fields());
  for (const auto& transform : transforms_) transform(batch, context);
  return on_device(std::move(batch), prefetch_.device);
}

DataLoader::Epoch DataLoader::epoch(std::int64_t number, std::int64_t first) {
  return epoch({sampler_.options().seed, number, first});
}

DataLoader::Epoch DataLoader::epoch(const Position& position) {
  if (position.seed != sampler_.options().seed)
    raise<ValueError>("DataLoader", "got a position of seed {}; expected one of seed {}", position.seed,
                      sampler_.options().seed);
  sampler_ = sampler_.from(position);
  position_ = {position.seed, position.epoch, position.batch, sampler_.rows_before(position.batch)};
  return {*this, position.epoch, position.batch};
}

DataLoader::Epoch::Epoch(DataLoader& loader, std::int64_t number, std::int64_t first)
    : loader_(&loader), number_(number), first_(first), last_(loader.batches()) {
  const auto& samples = loader.dataset_.samples();
  const auto batch_bytes = std::max<std::int64_t>(1, loader.batch_size() * samples.row_bytes());
  const bool all = !samples.is_stored() && loader.sampler_.stays_on_rank();
  const auto batches = all ? loader.batches() : std::max<std::int64_t>(1, samples.window_bytes() / batch_bytes);
  windows_.reset(
      new Windows{loader.dataset_, loader.sampler_, number, loader.prefetch_.readers, batches, first, first});
}
DataLoader::Epoch::~Epoch() = default;
DataLoader::Epoch::Epoch(Epoch&&) noexcept = default;
DataLoader::Epoch& DataLoader::Epoch::operator=(Epoch&&) noexcept = default;

const Batch& DataLoader::Epoch::load(std::int64_t batch) const {
  auto& windows = *windows_;
  auto& loader = *loader_;
  if (batch < windows.first || batch >= windows.end) windows.move_to(batch);
  if (loader.prefetch_.workers > 0) {
    loader.batch_ = windows.take_prepared(loader, batch);
  } else {
    const auto place = windows.part(windows.window.place, batch);
    loader.memory_.resize(windows.window.rows.size());
    for (std::size_t field = 0; field < loader.memory_.size(); ++field)
      take(loader.memory_[field], windows.window.rows[field], place);
    loader.batch_ = loader.transformed(loader.memory_, windows.context(batch));
  }
  loader.position_ = {windows.sampler.options().seed, number_, batch + 1, windows.sampler.rows_before(batch + 1)};
  return loader.batch_;
}

}  // namespace heatpp::nn
