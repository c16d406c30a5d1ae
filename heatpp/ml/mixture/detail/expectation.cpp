#include <heatpp/ml/mixture/detail/expectation.hpp>

#include <heatpp/ml/detail/nearest.hpp>
#include <heatpp/ml/mixture/detail/columns.hpp>

namespace heatpp::ml::detail {
namespace {

std::int64_t padded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// Returns a matrix with its columns padded with zeros.
at::Tensor padded_columns(const at::Tensor& x) {
  auto wide = at::zeros({x.size(0), padded(x.size(1), feature_padding)}, at::kDouble);
  wide.slice(1, 0, x.size(1)).copy_(x);
  return wide;
}

/// The working memory of a thread: rows about an origin, and their shares.
class Workspace {
 public:
  Workspace(std::int64_t k, const at::Tensor& origin)
      : origin_(origin),
        features_(padded(origin.size(0), feature_padding)),
        rows_(padded(std::clamp<std::int64_t>(cached / features_, 64, 512), row_padding)),
        stride_(rows_ + 8),  // columns at a distance of a power of two would compete for cache lines
        x_(numbers(features_ * stride_)),
        scratch_(numbers(features_ * stride_)),
        shares_(numbers(k * stride_)),
        norms_(numbers(stride_)) {}

  /// Calls f(first, count) for the rows of a piece, some at a time.
  template <class T, class F>
  void for_rows(const Piece<T>& piece, F f) {
    for (std::int64_t first = 0; first < piece.rows; first += rows_) {
      const auto count = std::min(rows_, piece.rows - first);
      load(piece, first, count);
      f(first, count);
    }
  }
  [[nodiscard]] FeatureColumns x() { return {x_.data(), used_, features_, stride_}; }
  [[nodiscard]] FeatureColumns scratch() { return {scratch_.data(), used_, features_, stride_}; }
  [[nodiscard]] double* shares(std::int64_t component) { return shares_.data() + component * stride_; }
  [[nodiscard]] double* norms() { return norms_.data(); }
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  [[nodiscard]] std::int64_t used() const { return used_; }  ///< number of rows, padded

 private:
  static constexpr std::int64_t cached = 8192;  ///< numbers that stay in the cache
  [[nodiscard]] static std::vector<double> numbers(std::int64_t n) {
    return std::vector<double>(static_cast<std::size_t>(n));
  }
  template <class T>
  void load(const Piece<T>& piece, std::int64_t first, std::int64_t count) {
    used_ = padded(count, row_padding);
    const auto* origin = origin_.const_data_ptr<double>();
    for (std::int64_t j = 0; j < piece.features; ++j) {
      auto* to = x_.data() + j * stride_;
      const auto* from = piece.row(first) + j;
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i * piece.features]) - origin[j];
      std::fill(to + count, to + used_, 0.0);
    }
  }

  at::Tensor origin_;
  std::int64_t features_, rows_, stride_, used_ = 0;
  std::vector<double> x_, scratch_, shares_, norms_;
};

/// Components in the layout of the kernels, about an origin.
class Densities {
 public:
  explicit Densities(const Components& c)
      : origin_(c.means.mean(0).contiguous()),
        heights_(c.log_heights()),
        means_(padded_columns(c.means - origin_)),
        triangular_(c.type == CovarianceType::full || c.type == CovarianceType::tied),
        factors_(triangular_ ? tiles(c) : lines(c)) {}
  [[nodiscard]] const at::Tensor& origin() const { return origin_; }
  [[nodiscard]] std::int64_t count() const { return means_.size(0); }
  [[nodiscard]] const at::Tensor& means() const { return means_; }

  /// Computes shares and norms of the rows in the workspace.
  void operator()(Workspace& work) const {
    for (std::int64_t c = 0; c < count(); ++c) {
      const auto* mean = means_.const_data_ptr<double>() + c * means_.size(1);
      const auto height = heights_.const_data_ptr<double>()[c];
      const auto* factor = factors_[c % factors_.size(0)].const_data_ptr<double>();
      if (triangular_) triangle_densities(work.x(), mean, factor, height, work.scratch().data, work.shares(c));
      else diagonal_densities(work.x(), mean, factor, height, work.shares(c));
    }
    normalise(work.shares(0), count(), work.used(), work.stride(), work.norms());
  }

 private:
  /// Returns upper triangular factors in tiles of columns, one line for each component, or one for all.
  [[nodiscard]] static at::Tensor tiles(const Components& c) {
    const auto f = c.features(), size = padded(f, feature_padding);
    const auto all = c.factors.reshape({-1, f, f});
    auto square = at::zeros({all.size(0), size, size}, at::kDouble);
    square.slice(1, 0, f).slice(2, 0, f).copy_(all);
    std::vector<at::Tensor> parts;
    for (std::int64_t tile = 0; tile < size; tile += feature_padding)
      parts.push_back(
          square.slice(1, 0, tile + feature_padding).slice(2, tile, tile + feature_padding).reshape({all.size(0), -1}));
    return at::cat(parts, 1).contiguous();
  }
  [[nodiscard]] static at::Tensor lines(const Components& c) {
    return padded_columns(c.type == CovarianceType::diag ? c.factors : c.factors.unsqueeze(1).expand_as(c.means));
  }

  at::Tensor origin_, heights_, means_;
  bool triangular_;
  at::Tensor factors_;
};

/// The sums of one thread, with padded features, and their form as a message.
class Sums {
 public:
  Sums(CovarianceType type, std::int64_t k, std::int64_t f)
      : type_(type),
        k_(k),
        f_(f),
        size_(padded(f, feature_padding)),
        counts_(at::zeros({k}, at::kDouble)),
        first_(at::zeros({k, size_}, at::kDouble)),
        second_(at::zeros(type == CovarianceType::full ? std::vector{k, size_, size_} : std::vector{k, size_},
                          at::kDouble)) {}

  /// Adds the rows in the workspace about a component's mean, weighted by their shares.
  void add(std::int64_t c, const double* mean, Workspace& work) {
    const auto* shares = work.shares(c);
    auto *first = first_.data_ptr<double>() + c * size_, *second = second_.data_ptr<double>();
    counts_.data_ptr<double>()[c] += sum_of(shares, work.used());
    if (type_ == CovarianceType::full)
      add_triangle(work.x(), mean, shares, work.scratch(), first, second + c * size_ * size_);
    else add_squares(work.x(), mean, shares, first, type_ == CovarianceType::tied ? nullptr : second + c * size_);
  }
  void add_norms(const double* norms, const double* weights, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) norms_ += norms[i] * (weights ? weights[i] : 1.0);
  }
  /// Returns all numbers in one vector; of triangles those on and below the diagonal.
  [[nodiscard]] at::Tensor packed(double vote) const {
    std::vector<at::Tensor> parts{counts_, first_.slice(1, 0, f_).flatten()};
    if (type_ == CovarianceType::full)
      parts.push_back(second_.reshape({k_, -1}).index_select(1, triangle(f_, size_)).flatten());
    else if (type_ != CovarianceType::tied) parts.push_back(second_.slice(1, 0, f_).flatten());
    parts.push_back(at::tensor({norms_, vote}, at::kDouble));
    return at::cat(parts);
  }
  [[nodiscard]] static MixtureSums unpacked(CovarianceType type, const at::Tensor& numbers, const at::Tensor& about) {
    const auto k = about.size(0), f = about.size(1);
    MixtureSums sums{numbers.slice(0, 0, k), numbers.slice(0, k, k + k * f).reshape({k, f}), {}, about};
    const auto rest = numbers.slice(0, k + k * f);
    if (type == CovarianceType::full) {
      sums.second = at::zeros({k, f * f}, at::kDouble).index_copy_(1, triangle(f, f), rest.reshape({k, -1}));
      sums.second = sums.second.reshape({k, f, f});
    } else if (type != CovarianceType::tied) {
      sums.second = rest.reshape({k, f});
    }
    return sums;
  }

 private:
  /// Returns where the numbers on and below the diagonal lie in matrices of that width.
  [[nodiscard]] static at::Tensor triangle(std::int64_t f, std::int64_t width) {
    const auto places = at::tril_indices(f, f);
    return places[0] * width + places[1];
  }

  CovarianceType type_;
  std::int64_t k_, f_, size_;
  at::Tensor counts_, first_, second_;
  double norms_ = 0;
};

/// The places about which deviations are taken, (k, padded features), relative to an origin.
struct Places {
  at::Tensor origin, places;
  std::int64_t features;
};

/// Sums all rows, weighted by the shares that fill(piece, first, count, workspace) computes for some rows of a piece at
/// a time; also sums the norms, and the ranks that ask to stop.
template <class Fill>
at::Tensor sums_of(const Weighted& data, CovarianceType type, const Places& about, double vote, Fill fill) {
  const auto k = about.places.size(0), width = about.places.size(1);
  const auto* places = about.places.const_data_ptr<double>();
  std::vector<Workspace> works(threads(), Workspace(k, about.origin));
  std::vector<Sums> sums;
  for (std::size_t t = 0; t < threads(); ++t) sums.emplace_back(type, k, about.features);
  const auto failure = heatpp::detail::failure_of([&] {
    for_pieces(data.rows, [&](const auto& piece, int thread) {
      auto& work = works[static_cast<std::size_t>(thread)];
      auto& own = sums[static_cast<std::size_t>(thread)];
      work.for_rows(piece, [&](std::int64_t first, std::int64_t count) {
        fill(piece, first, count, work);
        const auto* weights = data.weights ? data.weights + piece.first + first : nullptr;
        own.add_norms(work.norms(), weights, count);
        for (std::int64_t c = 0; c < k; ++c) {
          auto* shares = work.shares(c);
          for (std::int64_t i = 0; weights && i < count; ++i) shares[i] *= weights[i];
          std::fill(shares + count, shares + work.used(), 0.0);
          own.add(c, places + c * width, work);
        }
      });
    });
  });
  auto total = sums[0].packed(vote);
  for (std::size_t t = 1; t < sums.size(); ++t) total += sums[t].packed(0);
  sum_over_ranks(data.rows, total, failure);
  return total;
}

}  // namespace

double for_shares(const Weighted& data, const Components& components,
                  const std::function<void(const ShareBlock&)>& visit) {
  const Densities densities(components);
  return summed(data.rows, 1, [&](const auto& piece, std::span<double> sum) {
    check_finite(data.op, data.rows, piece);
    Workspace work(densities.count(), densities.origin());
    work.for_rows(piece, [&](std::int64_t first, std::int64_t count) {
      densities(work);
      for (std::int64_t i = 0; i < count; ++i)
        sum[0] += work.norms()[i] * (data.weights ? data.weights[piece.first + first + i] : 1.0);
      visit({piece.first + first, count, work.shares(0), work.stride(), work.norms()});
    });
  })[0];
}

Expected expected(const Weighted& data, const Components& components, heatpp::detail::Watch& watch) {
  const Densities densities(components);
  const auto total =
      sums_of(data, components.type, {densities.origin(), densities.means(), components.features()}, watch.vote(),
              [&](const auto&, std::int64_t, std::int64_t, Workspace& work) { densities(work); });
  watch.hear(total[-1].item<double>());
  return {Sums::unpacked(components.type, total.slice(0, 0, -2), components.means), total[-2].item<double>()};
}

MixtureSums sums_near(const Weighted& data, CovarianceType type, const at::Tensor& centers) {
  const auto k = centers.size(0), f = centers.size(1);
  const auto origin = centers.mean(0).contiguous();
  const NearestCenters table(centers, working_dtype(data.rows));
  const auto total = sums_of(
      data, type, {origin, padded_columns(centers - origin), f}, 0,
      [&](const auto& piece, std::int64_t first, std::int64_t count, Workspace& work) {
        std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
        table.nearest(std::decay_t<decltype(piece)>{piece.row(first), count, piece.features, first}, labels.data());
        for (std::int64_t c = 0; c < k; ++c)
          for (std::int64_t i = 0; i < count; ++i) work.shares(c)[i] = labels[static_cast<std::size_t>(i)] == c ? 1 : 0;
        std::fill_n(work.norms(), count, 0.0);
      });
  return Sums::unpacked(type, total.slice(0, 0, -2), centers);
}

}  // namespace heatpp::ml::detail
