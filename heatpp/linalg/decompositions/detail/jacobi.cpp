#include <heatpp/linalg/decompositions/detail/jacobi.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/ops/operands/index.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

/// A tournament of 2 P players, two on each of P ranks. One stays, and the others move one seat in every round, so that
/// all pairs meet in 2 P - 1 rounds. A player is a block of columns of w and v, transposed: a row is a column of w
/// followed by one of v.
class Tournament {
 public:
  Tournament(const DNDarray& a, double scale) : comm_(a.comm()), m_(a.shape()[0]), scale_(scale) {
    const auto columns = cut_along(a, 1);
    const auto& cut = columns.layout();
    for (int r = 0; r < comm_.size(); ++r) {
      top_.push_back({2 * r, cut.count(r) / 2});
      bottom_.push_back({2 * r + 1, cut.count(r) - cut.count(r) / 2});
    }
    auto identity = at::zeros({cut.count(comm_.rank()), a.shape()[1]}, columns.larray().options().device(at::kCPU));
    identity.diagonal(cut.offset(comm_.rank())).fill_(1);
    const auto players = at::cat({columns.larray().cpu().t() / scale, identity}, 1);
    mine_ = {players.narrow(0, 0, mine(top_).columns), players.narrow(0, mine(top_).columns, mine(bottom_).columns)};
  }

  [[nodiscard]] int rounds() const { return 2 * comm_.size() - 1; }

  /// Rotates this rank's pair until its columns are orthogonal. Returns their deviation before, and skips those within
  /// the tolerance.
  double play(double tolerance) {
    // The player with the lower number gets the longer columns; otherwise the order would never settle.
    const bool upside_down = mine(top_).player > mine(bottom_).player;
    auto &longer = mine_[upside_down], &shorter = mine_[!upside_down];
    const auto both = at::cat({longer, shorter});
    const auto w = both.narrow(1, 0, m_);
    if (both.size(0) < 2) return 0;
    const auto triangle = std::get<1>(at::linalg_qr(w.t(), "r"));
    const auto products = at::mm(triangle.mH(), triangle).abs();
    const auto lengths = products.diagonal().sqrt();
    const auto larger =
        at::maximum(lengths.unsqueeze(0), lengths.unsqueeze(1)).clamp_min(std::numeric_limits<float>::min());
    const auto error = (products.triu(1) / larger).max().item<double>();
    if (error <= tolerance) return error;
    // This is conj(v)^T from the adjoint, whose longer columns come first: LAPACK is then exact for short ones, too.
    const auto rotation = std::get<0>(at::linalg_svd(triangle.mH())).mH();
    const auto rotated = at::mm(rotation.conj(), both);
    const auto count = longer.size(0);
    longer = rotated.narrow(0, 0, count);
    shorter = rotated.narrow(0, count, rotated.size(0) - count);
    return error;
  }

  /// Moves all except the first rank's upper player to the next seat.
  void move_on() {
    const auto ranks = comm_.size(), me = comm_.rank();
    if (ranks == 1) return;
    auto top = top_, bottom = bottom_;
    for (int r = 1; r < ranks; ++r) {
      const auto i = static_cast<std::size_t>(r);
      top[i] = r == 1 ? bottom_[0] : top_[i - 1];
      bottom[i - 1] = bottom_[i];
    }
    bottom.back() = top_.back();
    const auto width = mine_[0].size(1);
    // Upper ones and the first rank's lower one go to the right; lower ones go to the left.
    const bool first = me == 0, last = me == ranks - 1;
    const auto up = (first ? mine_[1] : mine_[0]).contiguous(), down = mine_[1].contiguous();
    std::array<at::Tensor, 2> next = {first ? mine_[0] : at::empty({mine(top).columns, width}, up.options()),
                                      last ? mine_[0] : at::empty({mine(bottom).columns, width}, up.options())};
    Request requests[4];
    if (!first) requests[0] = comm_.ireceive(buffer_of(next[0]), me - 1);
    if (!last) requests[1] = comm_.ireceive(buffer_of(next[1]), me + 1);
    if (!last) requests[2] = comm_.isend(buffer_of(up), me + 1);
    if (!first) requests[3] = comm_.isend(buffer_of(down), me - 1);
    for (auto& request : requests) request.wait();
    mine_ = std::move(next);
    top_ = std::move(top);
    bottom_ = std::move(bottom);
  }

  /// Returns the columns in the order of their lengths in w, cut evenly.
  [[nodiscard]] Orthogonalised sorted(Lengths wanted) const {
    const auto players = at::cat({mine_[0], mine_[1]});
    const auto lengths = at::linalg_vector_norm(players.narrow(1, 0, m_), 2, {1}).contiguous();
    std::vector<std::int64_t> counts;
    for (std::size_t r = 0; r < top_.size(); ++r) counts.push_back(top_[r].columns + bottom_[r].columns);
    const auto n = std::reduce(counts.begin(), counts.end());
    const auto all = at::empty({n}, lengths.options());
    comm_.allgather(buffer_of(lengths), buffer_of(all), counts);
    const auto order = all.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/wanted == Lengths::falling);
    const auto rows = wrap(players, Layout::from_counts({n, players.size(1)}, 0, counts), comm_);
    const Layout to({n}, 0, comm_.size());
    const auto placed = rows.index({wrap(order, to.replicated({n}), comm_)}).larray();
    const auto w = placed.narrow(1, 0, m_).t().contiguous(), v = placed.narrow(1, m_, n).t().contiguous();
    return {wrap(w, to.with({m_, n}, 1), comm_), wrap(v, to.with({n, n}, 1), comm_), scale_};
  }

 private:
  struct Seat {
    int player;
    std::int64_t columns;
  };

  [[nodiscard]] const Seat& mine(const std::vector<Seat>& seats) const {
    return seats[static_cast<std::size_t>(comm_.rank())];
  }

  Communicator comm_;
  std::int64_t m_;
  double scale_;
  std::vector<Seat> top_, bottom_;  // one of each on every rank
  std::array<at::Tensor, 2> mine_;
};

}  // namespace

Orthogonalised orthogonalise_columns(const char* op, const DNDarray& a, Lengths order) {
  constexpr int most_tournaments = 40;
  const auto eps = real_epsilon(a.dtype());
  const auto [scale, length] = length_of(op, a);
  // Columns that should be 0 keep what the tolerance leaves. Ranks are computed with a threshold of a few eps.
  const auto tolerance = eps * length;
  const auto rounding = 8 * tolerance * std::sqrt(static_cast<double>(std::max<std::int64_t>(1, a.shape()[1])));
  Tournament tournament(a, scale);
  const auto sorted = [&] {  // the tournament runs on the CPU
    const auto [w, v, factor] = tournament.sorted(order);
    return Orthogonalised{w.to_device(a.device()), v.to_device(a.device()), factor};
  };
  double previous = length;
  for (int i = 0; i < most_tournaments; ++i) {
    std::array<double, 1> error{0};
    for (int round = 0; round < tournament.rounds(); ++round) {
      error[0] = std::max(error[0], tournament.play(tolerance));
      tournament.move_on();
    }
    a.comm().allreduce(error, ReduceOp::max);
    // Convergence is quadratic near the end; an error that no longer falls then is rounding of the rotations.
    if (error[0] <= tolerance || (error[0] <= rounding && error[0] > previous / 2)) return sorted();
    previous = error[0];
  }
  if (previous <= 100 * rounding) return sorted();
  raise<Error>(op, "got columns that are not orthogonal after {} tournaments; expected convergence", most_tournaments);
}

}  // namespace heatpp::detail
