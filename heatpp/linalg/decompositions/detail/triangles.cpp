#include <heatpp/linalg/decompositions/detail/triangles.hpp>

#include <heatpp/core/detail/peers/transfer.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// A pair of ranks whose triangles were joined on this one, and the factor that leads to both.
struct Join {
  int with, step;
  at::Tensor factor;
  std::int64_t mine;  ///< its first rows, which lead to this rank's triangle
};

class Pairs {
 public:
  Pairs(const at::Tensor& triangle, const Layout& layout, const Communicator& comm)
      : comm_(comm), layout_(layout), triangle_(triangle) {
    for (int step = 1; step < comm.size(); step *= 2) join(step);
  }

  /// Returns the triangle of all rows on every rank.
  [[nodiscard]] at::Tensor whole() const {
    const auto n = triangle_.size(1);
    const auto all = comm_.rank() == 0 ? triangle_ : at::empty({n, n}, triangle_.options());
    comm_.broadcast(buffer_of(all), 0);
    return all;
  }
  /// Returns the matrix by which this rank's own triangle follows from the whole one.
  [[nodiscard]] at::Tensor factor() const {
    const auto n = triangle_.size(1);
    auto top =
        comm_.rank() == 0 ? at::eye(n, triangle_.options()) : at::empty({triangle_.size(0), n}, triangle_.options());
    auto join = joins_.rbegin();
    int step = 1;
    while (2 * step < comm_.size()) step *= 2;
    for (; step > 0 && comm_.size() > 1; step /= 2) {
      if (comm_.rank() % (2 * step) == step) {
        carry_out({.from = comm_.rank() - step, .matrix = top}, comm_);
      } else if (join != joins_.rend() && join->step == step) {
        const auto both = at::mm(join->factor, top);
        carry_out({.to = join->with, .matrix = both.slice(0, join->mine).contiguous()}, comm_);
        top = both.slice(0, 0, join->mine).contiguous();
        ++join;
      } else {
        carry_out({}, comm_);
      }
    }
    return top;
  }

 private:
  void join(int step) {
    const int rank = comm_.rank(), with = rank + step;
    if (rank % (2 * step) == step) return carry_out({.to = rank - step, .matrix = triangle_}, comm_);
    if (rank % (2 * step) != 0 || with >= comm_.size()) return carry_out({}, comm_);
    const auto n = triangle_.size(1);
    const auto rows = layout_.offset(std::min(with + step, comm_.size())) - layout_.offset(with);
    const auto below = at::empty({std::min(rows, n), n}, triangle_.options());
    carry_out({.from = with, .matrix = below}, comm_);
    const auto [factor, joined] = at::linalg_qr(at::cat({triangle_, below}));
    joins_.push_back({with, step, factor, triangle_.size(0)});
    triangle_ = joined.contiguous();
  }

  const Communicator& comm_;
  const Layout& layout_;
  at::Tensor triangle_;
  std::vector<Join> joins_;
};

}  // namespace

Tall by_triangles(const at::Tensor& x, const Layout& layout, const Communicator& comm) {
  const auto n = x.size(1);
  const auto [q, r] = at::linalg_qr(x);
  std::vector<std::int64_t> counts;
  std::int64_t rows = 0, first = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto height = std::min(layout.count(rank), n);
    counts.push_back(height * n);
    if (rank < comm.rank()) first += height;
    rows += height;
  }
  const auto mine = r.cpu().contiguous(), all = at::empty({rows, n}, mine.options());
  comm.allgather(buffer_of(mine), buffer_of(all), counts);
  const auto [top, triangle] = at::linalg_qr(all.to(x.device()));
  return {at::mm(q, top.narrow(0, first, r.size(0))), triangle};
}

Tall by_pairs(const at::Tensor& x, const Layout& layout, const Communicator& comm) {
  const auto [q, r] = at::linalg_qr(x);
  const Pairs pairs(r.cpu().contiguous(), layout, comm);
  const auto whole = pairs.whole();
  return {at::mm(q, pairs.factor().to(x.device())), whole.to(x.device())};
}

}  // namespace heatpp::detail
