#include <heatpp/comm/detail/schedule/bucket.hpp>

#include <heatpp/comm/detail/machine/scratch.hpp>

#include <cstring>

namespace heatpp::detail {
namespace {

// Below the first size a copy costs little against latency. Full buckets can travel while others fill.
constexpr std::int64_t copy_below_bytes = 512 << 10, bucket_bytes = 4 << 20;

/// Calls f(array, its place in the bucket).
template <class F>
void for_each_place(std::span<const Buffer> arrays, std::byte* bucket, F f) {
  for (const auto& array : arrays) {
    if (array.count > 0) f(array, bucket);
    bucket += array.bytes();
  }
}

std::unique_ptr<Operation> start_bucket(std::span<const Buffer> arrays,
                                        const std::function<std::unique_ptr<Operation>(const Buffer&)>& make) {
  if (arrays.size() == 1) return make(arrays[0]);
  std::int64_t count = 0;
  for (const auto& array : arrays) count += array.count;
  const auto dtype = arrays[0].dtype;
  auto memory = std::make_shared<Scratch>(count * static_cast<std::int64_t>(itemsize(dtype)));
  for_each_place(arrays, memory->data(), [](const Buffer& array, std::byte* place) {
    std::memcpy(place, array.data, static_cast<std::size_t>(array.bytes()));
  });
  return then(make({memory->data(), count, dtype}), [memory, kept = std::vector(arrays.begin(), arrays.end())] {
    for_each_place(kept, memory->data(), [](const Buffer& array, const std::byte* place) {
      std::memcpy(array.data, place, static_cast<std::size_t>(array.bytes()));
    });
  });
}

}  // namespace

std::unique_ptr<Operation> in_buckets(std::span<const Buffer> arrays,
                                      const std::function<std::unique_ptr<Operation>(const Buffer&)>& make) {
  std::vector<std::unique_ptr<Operation>> buckets;
  for (std::size_t first = 0; first < arrays.size();) {
    auto last = first + 1;
    auto bytes = arrays[first].bytes();
    const auto is_small = [&](const Buffer& array) {
      return array.bytes() < copy_below_bytes && array.dtype == arrays[first].dtype && !array.memory.on_device();
    };
    while (is_small(arrays[first]) && bytes < bucket_bytes && last < arrays.size() && is_small(arrays[last]))
      bytes += arrays[last++].bytes();
    buckets.push_back(start_bucket(arrays.subspan(first, last - first), make));
    first = last;
  }
  return together(std::move(buckets));
}

}  // namespace heatpp::detail
