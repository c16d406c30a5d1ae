#include <heatpp/ml/detail/class_moments.hpp>

namespace heatpp::ml::detail {
namespace {

/// Sums, and then squares about the means, of a piece, class by class.
template <class T>
void merge_piece(const Piece<T>& piece, const std::int32_t* labels, const double* weights, std::span<Moments> moments) {
  const auto f = static_cast<std::size_t>(piece.features);
  std::vector<double> n(moments.size() / f), mean(moments.size()), m2(moments.size());
  const auto each = [&](auto visit) {
    for (std::int64_t i = 0; i < piece.rows; ++i)
      visit(piece.row(i), static_cast<std::size_t>(labels[i]), weights ? weights[i] : 1.0);
  };
  each([&](const T* x, std::size_t c, double w) {
    n[c] += w;
    for (std::size_t j = 0; j < f; ++j) mean[c * f + j] += w * static_cast<double>(x[j]);
  });
  for (std::size_t i = 0; i < mean.size(); ++i)
    if (n[i / f] > 0) mean[i] /= n[i / f];
  each([&](const T* x, std::size_t c, double w) {
    for (std::size_t j = 0; j < f; ++j) {
      const auto d = static_cast<double>(x[j]) - mean[c * f + j];
      m2[c * f + j] += w * d * d;
    }
  });
  for (std::size_t i = 0; i < moments.size(); ++i) moments[i].merge({n[i / f], mean[i], m2[i]});
}

}  // namespace

std::vector<Moments> class_moments(const char* op, const Rows& rows, const LabelledClasses& classes,
                                   const double* weights) {
  const auto numbers = static_cast<std::size_t>(classes.count() * rows.features());
  std::vector<std::vector<Moments>> of_thread(threads(), std::vector<Moments>(numbers));
  const auto failure = heatpp::detail::failure_of([&] {
    for_pieces(rows, [&](const auto& piece, int thread) {
      check_finite(op, rows, piece);
      merge_piece(piece, classes.index.data() + piece.first, weights ? weights + piece.first : nullptr,
                  of_thread[static_cast<std::size_t>(thread)]);
    });
  });
  return merged_over_ranks(rows, of_thread, failure);
}

}  // namespace heatpp::ml::detail
