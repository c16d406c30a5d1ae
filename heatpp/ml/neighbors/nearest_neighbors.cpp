#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/around.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/neighbors.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/neighbors/detail/best.hpp>
#include <heatpp/ml/neighbors/detail/entries.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using namespace ml::detail;

/// The asking rows, which are compared with the fitted ones that go around: as tensors, or as matrices.
struct Asked {
  Dtype dtype;
  const Rows& fitted;
  at::Tensor asking = {}, block = {};
  std::optional<sparse::DCSRMatrix> asking_matrix = std::nullopt;
  void around(const Search& search) const {
    if (asking_matrix) return search_entries(*asking_matrix, *sparse_rows(fitted), search);
    ml::detail::around(block, fitted.layout(), fitted.comm(),
                       [&](const at::Tensor& rows, std::int64_t first) { search(asking, rows, first); });
  }
};

Asked asked(Metric metric, const Rows& x, const Rows& fitted, Dtype dtype) {
  if (sparse_rows(fitted)) return {dtype, fitted, {}, {}, unit_rows(x)};
  return {dtype, fitted, comparable(metric, block_of(x, dtype), false),
          comparable(metric, block_of(fitted, dtype), true)};
}

template <class T>
at::Tensor column(const std::vector<T>& values, Dtype dtype) {
  return at::tensor(at::ArrayRef<T>(values)).to(detail::to_torch(dtype));
}

}  // namespace

NearestNeighbors& NearestNeighbors::fit(const Rows& x) {
  check_agreed("NearestNeighbors.fit", x, options_);
  learn("NearestNeighbors.fit", x);
  return *this;
}

void NearestNeighbors::learn(const char* op, const Rows& x) {
  if (options_.n_neighbors < 1 || !(options_.radius >= 0))
    detail::raise<ValueError>(op, "got {} neighbors and radius {}; expected at least 1, and >= 0", options_.n_neighbors,
                              options_.radius);
  check_not_empty(op, x);
  check_all_finite(op, x);
  rows_.reset();
  matrix_.reset();
  dtype_ = working_dtype(x);
  if (sparse_rows(x) && options_.metric == Metric::cosine) matrix_ = unit_rows(x);
  else rows_ = as_rows(x, block_of(x, dtype_));
}

Rows NearestNeighbors::fitted_rows(const char* op) const {
  if (matrix_) return *matrix_;
  return fitted(op, rows_);
}

const DNDarray& NearestNeighbors::rows() const {
  if (matrix_) detail::raise<ValueError>("NearestNeighbors.rows", "got rows of a sparse matrix; expected dense ones");
  return fitted("NearestNeighbors.rows", rows_);
}

Neighbors NearestNeighbors::nearest(const char* op, const Rows& x, bool among_themselves) const {
  const auto rows = fitted_rows(op);
  const auto k = options_.n_neighbors;
  if (k + (among_themselves ? 1 : 0) > rows.size())
    detail::raise<ValueError>(op, "got {} neighbors of {} rows; expected at most as many{}", k, rows.size(),
                              among_themselves ? ", without the row itself" : "");
  const auto mine = shared_out(x, rows.distributed());
  const auto dtype = among_themselves ? dtype_ : promote_types(working_dtype(x), dtype_);
  const auto data = asked(options_.metric, mine, rows, dtype);
  std::vector<Best> best(static_cast<std::size_t>(mine.count()));
  const auto most = static_cast<std::size_t>(k);
  const auto of = [&](std::int64_t i) -> Best& { return best[static_cast<std::size_t>(i)]; };
  data.around({options_.metric, [&](std::int64_t i) { return of(i).bound(most); },
               [&](std::int64_t i, const Near& near) {
                 if (!among_themselves || near.row != mine.first() + i) of(i).take(near, most);
               }});
  const auto [distances, indices] = answers_of(options_.metric, std::move(best), k, detail::to_torch(data.dtype), mine);
  return {back(distances, x), back(indices, x)};
}

Neighbors NearestNeighbors::kneighbors(const Rows& x) const { return found_for("NearestNeighbors.kneighbors", x); }

Neighbors NearestNeighbors::found_for(const char* op, const Rows& x) const {
  const auto rows = fitted_rows(op);
  check_features(op, x, rows.features());
  detail::check_same_comm(op, x.comm(), rows.comm());
  check_all_finite(op, x);
  return nearest(op, x, false);
}

Neighbors NearestNeighbors::kneighbors() const {
  constexpr auto op = "NearestNeighbors.kneighbors";
  return nearest(op, fitted_rows(op), true);
}

RadiusNeighbors NearestNeighbors::radius_neighbors(const Rows& x) const {
  return within("NearestNeighbors.radius_neighbors", x);
}

RadiusNeighbors NearestNeighbors::within(const char* op, const Rows& x) const {
  const auto rows = fitted_rows(op);
  check_features(op, x, rows.features());
  detail::check_same_comm(op, x.comm(), rows.comm());
  check_all_finite(op, x);
  const auto mine = shared_out(x, rows.distributed());
  const auto data = asked(options_.metric, mine, rows, promote_types(working_dtype(x), dtype_));
  std::vector<std::vector<Near>> near(static_cast<std::size_t>(mine.count()));
  const auto limit = reduced(options_.metric, options_.radius);
  data.around({options_.metric, [&](std::int64_t) { return limit; },
               [&](std::int64_t i, const Near& one) { near[static_cast<std::size_t>(i)].push_back(one); }});
  std::vector<std::int64_t> counts, indices;
  std::vector<double> distances;
  for (auto& some : near) {
    std::ranges::sort(some);
    counts.push_back(std::ssize(some));
    for (const auto& one : some)
      distances.push_back(distance_of(options_.metric, one.reduced)), indices.push_back(one.row);
  }
  const auto total = std::ssize(indices);
  const auto layout = mine.distributed() ? Layout::from_counts({0}, 0, mine.comm().allgather(total))
                                         : mine.layout().replicated({total});
  return {back(as_rows(mine, column(counts, int64)), x),
          back(detail::wrap(column(distances, data.dtype), layout, x.comm()), x),
          back(detail::wrap(column(indices, int64), layout, x.comm()), x)};
}

}  // namespace heatpp
