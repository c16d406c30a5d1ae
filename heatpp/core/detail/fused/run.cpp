#include <heatpp/core/detail/fused/run.hpp>

#include <heatpp/core/detail/host/threads.hpp>

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

namespace heatpp::detail::fused {

// A run of float32 takes 2 KiB, so that some dozen values stay in the first-level cache.
constexpr std::int64_t short_run = 512;
// A call of LibTorch takes as long as 1000 elements or so; these runs stay in the second-level cache.
constexpr std::int64_t long_run = 8192;
constexpr std::int64_t worth_another_thread = 1 << 15;  // elements

/// Reads a block that is broadcast: extents of the result, joined where possible, and the block's strides in bytes.
class Broadcast {
 public:
  Broadcast(const at::Tensor& block, at::IntArrayRef shape)
      : data_(static_cast<const std::byte*>(block.const_data_ptr())), size_(block.element_size()) {
    const auto geometry = at::inferExpandGeometry_dimvector(block.sizes(), block.strides(), shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) add(shape[axis], geometry.strides[axis] * size_);
  }
  /// Gives a run of copies of a number.
  Broadcast(const std::uint64_t& bits, std::int64_t size)
      : data_(reinterpret_cast<const std::byte*>(&bits)), size_(size), axes_{{long_run, 0}} {}

  /// Writes elements first .. first + count, in C order of the result.
  void copy(std::int64_t first, std::int64_t count, std::byte* out) const {
    while (count > 0) {
      const auto* from = data_;
      auto place = first;
      for (auto axis = axes_.size(); axis-- > 0; place /= axes_[axis].extent)
        from += place % axes_[axis].extent * axes_[axis].stride;
      const auto row = axes_.back().extent, n = std::min(count, row - first % row);
      copy_row(from, axes_.back().stride, n, out);
      first += n;
      count -= n;
      out += n * size_;
    }
  }

 private:
  struct Axis {
    std::int64_t extent, stride;
  };

  void add(std::int64_t extent, std::int64_t stride) {
    if (extent == 1 && !axes_.empty()) return;
    if (!axes_.empty() && (axes_.back().extent == 1 || axes_.back().stride == stride * extent))
      axes_.back() = {axes_.back().extent * extent, stride};
    else axes_.push_back({extent, stride});
  }

  void copy_row(const std::byte* from, std::int64_t stride, std::int64_t n, std::byte* out) const {
    if (stride == size_) static_cast<void>(std::memcpy(out, from, static_cast<std::size_t>(n * size_)));
    else if (size_ == 8) copy_strided<std::uint64_t>(from, stride, n, out);
    else if (size_ == 4) copy_strided<std::uint32_t>(from, stride, n, out);
    else copy_strided<std::uint8_t>(from, stride, n, out);
  }

  template <class T>
  static void copy_strided(const std::byte* from, std::int64_t stride, std::int64_t n, std::byte* out) {
    auto* to = reinterpret_cast<T*>(out);
    if (stride == 0) std::fill_n(to, n, *reinterpret_cast<const T*>(from));
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(from + i * stride);
  }

  const std::byte* data_;
  std::int64_t size_;
  std::vector<Axis> axes_;
};

/// Where a value is during a run.
struct Place {
  enum class Kind { memory, number, slot, result } kind = Kind::slot;
  const std::byte* memory = nullptr;  // of elements, or of the number
  std::int64_t slot = 0;
};

/// What is done for each run, and where values are.
class Plan {
 public:
  explicit Plan(const Formula& formula) : formula_(formula) {
    const auto& nodes = formula.nodes();
    const auto of_torch = [](const Node& node) { return is_of_torch(node.op); };
    run_length_ = std::ranges::any_of(nodes, of_torch) ? long_run : short_run;
    find_last_uses();
    places_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) add(i);
    if (slots_ == 0) run_length_ = std::numeric_limits<std::int64_t>::max() / 2;  // nothing stays in the cache
    slot_bytes_ =
        slots_ == 0 ? 0 : run_length_ * widest() + 64;  // slots that lie 4 KiB apart would share few lines of the cache
  }

  /// Computes elements first .. last of the result into `out`, which begins with element `origin`.
  void run(std::byte* out, std::int64_t origin, std::int64_t first, std::int64_t last) const {
    constexpr std::size_t line = 64;
    const auto bytes = static_cast<std::size_t>(slots_ * slot_bytes_);
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes + line);
    void* aligned = memory.get();
    auto space = bytes + line;
    Run run{static_cast<std::byte*>(std::align(line, bytes, aligned, space)), out, origin, first, run_length_};
    for (const auto& step : once_) take(step, run);
    for (; run.first < last; run.first += run_length_) {
      run.count = std::min(run_length_, last - run.first);
      for (const auto& step : steps_) take(step, run);
    }
  }

 private:
  struct Step {
    Kernel kernel = nullptr;  // or:
    std::size_t broadcast = 0;
    std::array<Place, 3> arguments;
    std::array<std::int64_t, 3> sizes{};  // bytes of the arguments' elements
    Place result;
    std::int64_t size = 0;
  };
  struct Run {
    std::byte* slots;
    std::byte* out;
    std::int64_t origin, first, count;
  };

  void take(const Step& step, const Run& run) const {
    auto* const to = step.result.kind == Place::Kind::result ? run.out + (run.first - run.origin) * step.size
                                                             : run.slots + step.result.slot * slot_bytes_;
    if (!step.kernel) return broadcasts_[step.broadcast].copy(run.first, run.count, to);
    const void* from[3];
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& place = step.arguments[i];
      from[i] = place.kind == Place::Kind::slot     ? run.slots + place.slot * slot_bytes_
                : place.kind == Place::Kind::number ? place.memory
                                                    : place.memory + run.first * step.sizes[i];
    }
    step.kernel(from[0], from[1], from[2], to, run.count);
  }

  void find_last_uses() {
    const auto& nodes = formula_.nodes();
    last_uses_.assign(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (int a = 0; a < argument_count(nodes[i].op); ++a)
        last_uses_[nodes[i].arguments[static_cast<std::size_t>(a)]] = i;
  }

  void add(std::size_t i) {
    const auto& node = formula_.nodes()[i];
    if (node.op == Op::number) places_[i] = {Place::Kind::number, reinterpret_cast<const std::byte*>(&node.bits)};
    else if (node.op == Op::copies) add_copies(i);
    else if (node.op == Op::block) add_block(i);
    else add_operation(i);
  }

  void add_block(std::size_t i) {
    const auto& node = formula_.nodes()[i];
    const auto& block = formula_.blocks()[node.bits];
    if (has_all_elements(block, formula_.shape())) {
      places_[i] = {Place::Kind::memory, static_cast<const std::byte*>(block.const_data_ptr())};
      return;
    }
    broadcasts_.emplace_back(block, formula_.shape());
    places_[i] = new_slot();
    steps_.push_back({nullptr, broadcasts_.size() - 1, {}, {}, places_[i], bytes_of(node.type)});
  }

  /// Fills a slot of its own once, which no other value may take before or after.
  void add_copies(std::size_t i) {
    const auto& node = formula_.nodes()[i];
    broadcasts_.emplace_back(formula_.node(node.arguments[0]).bits, bytes_of(node.type));
    last_uses_[i] = formula_.nodes().size();
    places_[i] = {Place::Kind::slot, nullptr, slots_++};
    once_.push_back({nullptr, broadcasts_.size() - 1, {}, {}, places_[i], bytes_of(node.type)});
  }

  void add_operation(std::size_t i) {
    const auto& node = formula_.nodes()[i];
    Step step;
    auto form = Form::runs;
    const int count = argument_count(node.op);
    for (int a = 0; a < count; ++a) {
      const auto at = static_cast<std::size_t>(a);
      const auto argument = node.arguments[at];
      step.arguments[at] = places_[argument];
      step.sizes[at] = bytes_of(formula_.node(argument).type);
      if (formula_.node(argument).op == Op::number) form = a == 0 ? Form::first_number : Form::second_number;
    }
    const auto free_arguments = [&](bool of_equal_size) {
      for (int a = 0; a < count; ++a) free_after(node.arguments[static_cast<std::size_t>(a)], i, of_equal_size);
    };
    free_arguments(true);
    step.kernel = kernel_of(node.op, argument_type(formula_, node), node.type, form);
    step.size = bytes_of(node.type);
    const bool last = i + 1 == formula_.nodes().size();
    step.result = places_[i] = last ? Place{Place::Kind::result} : new_slot();
    free_arguments(false);
    steps_.push_back(step);
  }

  /// Frees the slot of an argument that nobody reads later. The result may take it if its elements have equal sizes.
  void free_after(Value argument, std::size_t user, bool of_equal_size) {
    const auto& place = places_[argument];
    if (place.kind != Place::Kind::slot || last_uses_[argument] != user) return;
    const auto& nodes = formula_.nodes();
    if ((bytes_of(nodes[argument].type) == bytes_of(nodes[user].type)) != of_equal_size) return;
    if (std::ranges::find(free_, place.slot) == free_.end()) free_.push_back(place.slot);
  }

  Place new_slot() {
    if (free_.empty()) return {Place::Kind::slot, nullptr, slots_++};
    const auto slot = free_.back();
    free_.pop_back();
    return {Place::Kind::slot, nullptr, slot};
  }

  [[nodiscard]] std::int64_t widest() const {
    std::int64_t most = 1;
    for (const auto& node : formula_.nodes()) most = std::max(most, bytes_of(node.type));
    return most;
  }

  const Formula& formula_;
  std::vector<std::size_t> last_uses_;
  std::vector<Place> places_;
  std::vector<Broadcast> broadcasts_;
  std::vector<Step> once_, steps_;
  std::vector<std::int64_t> free_;
  std::int64_t run_length_ = 0, slots_ = 0, slot_bytes_ = 0;
};

bool has_all_elements(const at::Tensor& block, at::IntArrayRef shape) {
  if (!block.is_contiguous() || block.dim() > static_cast<std::int64_t>(shape.size())) return false;
  return block.numel() == c10::multiply_integers(shape);
}

bool is_readable(const at::Tensor& block, at::IntArrayRef shape) {
  return block.numel() < c10::multiply_integers(shape) || has_all_elements(block, shape);
}

Evaluation::Evaluation(const Formula& formula) : plan_(std::make_unique<const Plan>(formula)) { take_host_threads(); }
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation::~Evaluation() = default;

void Evaluation::run(std::int64_t first, std::int64_t last, void* out) const {
  at::parallel_for(first, last, worth_another_thread, [&](std::int64_t begin, std::int64_t end) {
    plan_->run(static_cast<std::byte*>(out), first, begin, end);
  });
}

void run(const Formula& formula, void* out) {
  Evaluation(formula).run(0, c10::multiply_integers(formula.shape()), out);
}

}  // namespace heatpp::detail::fused
