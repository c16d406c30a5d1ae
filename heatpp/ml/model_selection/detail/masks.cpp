#include <heatpp/ml/model_selection/detail/masks.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <functional>
#include <numeric>

namespace heatpp::ml::detail {

Layout samples_of(const char* op, const DNDarray& x) {
  if (x.ndim() < 1) heatpp::detail::raise<ValueError>(op, "got a number; expected an array with rows");
  if (x.layout().is_grid()) return {{x.shape()[0]}, 0, x.comm().size()};
  return x.layout().with({x.shape()[0]}, x.split() == std::optional(0) ? x.split() : std::nullopt);
}

void check_splits(const char* op, std::int64_t splits, std::int64_t rows) {
  if (splits < 2 || splits > rows)
    heatpp::detail::raise<ValueError>(op, "got {} splits of {} rows; expected 2 to as many as rows", splits, rows);
}

std::vector<std::int64_t> row_numbers(const Layout& layout, const Communicator& comm) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(layout.local_shape(comm.rank())[0]));
  std::iota(numbers.begin(), numbers.end(), layout.split() ? layout.offset(comm.rank()) : 0);
  return numbers;
}

DNDarray mask_of(const Layout& layout, const Communicator& comm, const std::function<bool(std::int64_t i)>& is_true) {
  auto block = at::empty({layout.local_shape(comm.rank())[0]}, at::kBool);
  for (std::int64_t i = 0; i < block.numel(); ++i) block.mutable_data_ptr<bool>()[i] = is_true(i);
  return heatpp::detail::wrap(block, layout, comm);
}

std::vector<Fold> folds_by(const std::vector<std::int64_t>& fold_of, std::int64_t splits, const Layout& layout,
                           const Communicator& comm) {
  std::vector<Fold> all;
  for (std::int64_t f = 0; f < splits; ++f) {
    const auto is_test = [&](std::int64_t i) { return fold_of[static_cast<std::size_t>(i)] == f; };
    all.push_back({mask_of(layout, comm, std::not_fn(is_test)), mask_of(layout, comm, is_test)});
  }
  return all;
}

}  // namespace heatpp::ml::detail
