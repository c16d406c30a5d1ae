#include <heatpp/linalg/solvers/krylov.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/solvers/detail/vectors.hpp>

#include <cmath>

namespace heatpp::linalg {
namespace {

using detail::raise;
using detail::Vectors;
using Number = Vectors::Number;

/// Returns the result. Logs a warning if it has not converged, unless the caller wanted the end.
Solved told(const char* op, Solved found, double limit, bool asked) {
  if (!found.converged && !asked)
    log(LogLevel::warning,
        detail::formatted(
            "[{}] ended after {} iterations with a residual of {:g}, above {:g}; expected more iterations, a "
            "larger rtol, or another method",
            op, found.iterations, found.residual, limit));
  return found;
}

void check_options(const char* op, const LinearOperator& a, const DNDarray& b, const KrylovOptions& o, bool square) {
  if (a.shape.size() != 2 || (square && a.shape[0] != a.shape[1]) || b.shape() != Shape{a.shape[0]})
    raise<ValueError>(op, "got shapes {} and {}; expected a{} matrix and a vector of its rows", to_string(a.shape),
                      to_string(b.shape()), square ? " square" : "");
  if (!(o.rtol >= 0) || !(o.atol >= 0) || o.max_iterations.value_or(0) < 0 || o.restart < 1)
    raise<ValueError>(
        op, "got rtol {}, atol {}, {} iterations and restart {}; expected none below 0 and a restart above it", o.rtol,
        o.atol, o.max_iterations.value_or(0), o.restart);
}

Dtype dtype_of(const LinearOperator& a, const DNDarray& b) {
  return detail::decomposition_type(promote_types(a.dtype.value_or(b.dtype()), b.dtype()));
}

/// A system that is being solved: the common part of all methods.
class System {
 public:
  System(const char* op, const LinearOperator& a, const DNDarray& given, const KrylovOptions& options)
      : System(a, (check_options(op, a, given, options, true), detail::one_cut(op, given)), options, op) {}

  System(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options, const char* op)
      : vectors(op, b.layout().with(b.shape(), b.split()), b, dtype_of(a, b)),
        op_(op),
        a_(a),
        options_(options),
        most_(options.max_iterations.value_or(10 * b.size())) {
    vectors.carry(watch_);
    const auto right = vectors.local(b);
    const auto size = vectors.length(right);
    x = options.x0 ? vectors.local(*options.x0).clone() : vectors.zeros();
    if (size == 0) x.zero_();
    const bool begun = options.x0 && size > 0;
    r = begun ? right - times(x) : right.clone();
    limit = std::max(options.rtol * size, options.atol);
    residual = begun ? vectors.length(r) : size;
  }

  [[nodiscard]] at::Tensor times(const at::Tensor& v) const { return vectors.apply(a_.apply, v); }
  [[nodiscard]] at::Tensor preconditioned(const at::Tensor& v) const {
    return options_.preconditioner ? vectors.apply(options_.preconditioner->apply, v) : v;
  }
  /// Whether to go on: not if the residual is small enough, products are used up, or the caller says so.
  [[nodiscard]] bool unsolved() const { return residual > limit && iterations < most_ && !watch_.ended(); }
  void end_iteration(double length, std::int64_t products = 1) {
    residual = length;
    iterations += products;
    watch_.ask(options_.progress, iterations, residual);
  }
  [[nodiscard]] std::int64_t left() const { return most_ - iterations; }
  [[nodiscard]] Solved solved() const {
    vectors.settle();
    return told(op_, {vectors.array(x), iterations, residual, residual <= limit}, limit, watch_.ended());
  }

  Vectors vectors;
  at::Tensor x, r;
  double limit = 0, residual = 0;
  std::int64_t iterations = 0;

 private:
  const char* op_;
  const LinearOperator& a_;
  const KrylovOptions& options_;
  std::int64_t most_;
  detail::Watch watch_;
};

/// The rotation that makes (a, b) to (r, 0).
struct Rotation {
  double c = 1;
  Number s = 0, r = 0;
  Rotation() = default;
  Rotation(Number a, double b) {
    const auto size = std::hypot(std::abs(a), b);
    if (size == 0) return;
    const auto phase = std::abs(a) > 0 ? a / std::abs(a) : Number(1);
    c = std::abs(a) / size;
    s = phase * (b / size);
    r = phase * size;
  }
};

/// The vectors that gmres keeps, and the triangle and right side of their least squares problem.
class Basis {
 public:
  Basis(const Vectors& vectors, const at::Tensor& r, double length) : vectors_(vectors), right_{length} {
    basis_.push_back(r / length);
  }
  [[nodiscard]] const at::Tensor& latest() const { return basis_.back(); }
  [[nodiscard]] std::int64_t size() const { return std::ssize(columns_); }

  /// Adds the product of the latest vector. Returns the residual's length.
  double take(at::Tensor w) {
    auto column = straightened(w);
    const auto length = vectors_.length(w);
    for (std::size_t i = 0; i < rotations_.size(); ++i) {
      const auto& [c, s, r] = rotations_[i];
      const auto upper = column[i], lower = column[i + 1];
      column[i] = c * upper + s * lower;
      column[i + 1] = c * lower - std::conj(s) * upper;
    }
    const Rotation rotation(column.back(), length);
    column.back() = rotation.r;
    const auto last = right_.back();
    right_.back() = rotation.c * last;
    right_.push_back(-std::conj(rotation.s) * last);
    rotations_.push_back(rotation);
    columns_.push_back(std::move(column));
    basis_.push_back(length > 0 ? w / length : w);
    return std::abs(right_.back());
  }

  /// Returns the combination of the vectors with the least residual.
  [[nodiscard]] at::Tensor combination() const {
    std::vector<Number> y(right_.begin(), right_.end() - 1);
    for (auto i = std::ssize(y) - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      for (auto j = at + 1; j < y.size(); ++j) y[at] -= columns_[j][at] * y[j];
      y[at] = columns_[at][at] == Number(0) ? Number(0) : y[at] / columns_[at][at];
    }
    auto sum = vectors_.zeros();
    for (std::size_t i = 0; i < y.size(); ++i) vectors_.add(sum, y[i], basis_[i]);
    return sum;
  }

 private:
  /// Makes w orthogonal to all vectors, twice. Returns its components along them.
  std::vector<Number> straightened(at::Tensor& w) const {
    std::vector<Number> total(basis_.size());
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<Number> parts;
      for (const auto& v : basis_) parts.push_back(at::vdot(v, w).item().toComplexDouble());
      vectors_.sum(parts);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        vectors_.add(w, -parts[i], basis_[i]);
        total[i] += parts[i];
      }
    }
    return total;
  }

  const Vectors& vectors_;
  std::vector<at::Tensor> basis_;
  std::vector<std::vector<Number>> columns_;
  std::vector<Rotation> rotations_;
  std::vector<Number> right_;
};

}  // namespace

namespace {

/// Throws if `square`, v^H m v for v and m v of these lengths, is not above 0 by more than rounding. Returns whether it
/// is above 0.
bool check_definite(const char* what, double square, double lengths, double epsilon, std::int64_t iterations) {
  if (square > 0) return true;
  if (-square <= epsilon * lengths && lengths > 0) return false;
  raise<ValueError>("solve_cg",
                    "got {} that is not positive definite: a product v^H m v of {:g} in iteration {}; expected a "
                    "positive definite one, or solve_minres for indefinite and solve_gmres for any operators",
                    what, square, iterations + 1);
}

}  // namespace

Solved solve_cg(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options) {
  System system("solve_cg", a, b, options);
  auto& vectors = system.vectors;
  auto z = system.preconditioned(system.r), p = z.clone();
  const auto squared = [](double x) { return x * x; };
  auto energy = options.preconditioner ? vectors.dot(system.r, z).real() : squared(system.residual);
  const auto epsilon = 10 * detail::real_epsilon(dtype_of(a, b));
  const auto definite = [&](const char* what, double square, const at::Tensor& v, const at::Tensor& mv) {
    if (square > 0) return true;
    const auto found = vectors.dots({{v, v}, {mv, mv}});
    return check_definite(what, square, std::sqrt(found[0].real() * found[1].real()), epsilon, system.iterations);
  };
  while (system.unsolved()) {
    if (options.preconditioner && !definite("a preconditioner", energy, system.r, z)) break;
    const auto ap = system.times(p);
    const auto curvature = vectors.dot(p, ap).real();
    if (!definite("an operator", curvature, p, ap)) break;
    const auto step = energy / curvature;
    vectors.add(system.x, step, p);
    vectors.add(system.r, -step, ap);
    z = system.preconditioned(system.r);
    const auto found = options.preconditioner ? vectors.dots({{system.r, z}, {system.r, system.r}})
                                              : vectors.dots({{system.r, system.r}});
    vectors.update(p, found.front().real() / energy, z);
    energy = found.front().real();
    system.end_iteration(std::sqrt(found.back().real()));
  }
  return system.solved();
}

namespace {

/// Minimal residuals from a system's x on. The size of the operator follows from its products so far.
class MinimalResiduals {
 public:
  MinimalResiduals(System& system, double epsilon) : system_(system), epsilon_(epsilon) {}

  /// Iterates from x until its residual is small enough, or cannot become smaller: then returns false.
  bool run() {
    auto& vectors = system_.vectors;
    auto v = system_.r / system_.residual, before = vectors.zeros(), w = vectors.zeros(), w_before = vectors.zeros();
    double beta = 0, eta = system_.residual;
    Rotation last, last_but_one;
    while (system_.unsolved()) {
      auto next = system_.times(v);
      vectors.add(next, -beta, before);
      const auto alpha = vectors.dot(v, next).real();
      vectors.add(next, -alpha, v);
      const auto beta_next = vectors.length(next);
      // This is the column of the tridiagonal matrix, turned by the two rotations before.
      const auto s_old = last_but_one.s.real() * beta, c_old = last_but_one.c * beta;
      const auto above = last.c * c_old + last.s.real() * alpha, diagonal = last.c * alpha - last.s.real() * c_old;
      const Rotation rotation(diagonal, beta_next);
      const auto size = rotation.r.real();
      squares_ += alpha * alpha + beta * beta + beta_next * beta_next;
      if (std::abs(size) <= epsilon_ * std::sqrt(squares_)) return false;  // the product with the residual is 0
      auto direction = v.clone();
      vectors.add(direction, -above, w);
      vectors.add(direction, -s_old, w_before);
      w_before = std::exchange(w, direction.div_(size));
      vectors.add(system_.x, rotation.c * eta, w);
      eta *= -rotation.s.real();
      before = std::exchange(v, beta_next > 0 ? next / beta_next : next);
      beta = beta_next;
      last_but_one = std::exchange(last, rotation);
      system_.end_iteration(std::abs(eta));
    }
    return true;
  }

 private:
  System& system_;
  double epsilon_;
  double squares_ = 0;  // sum over the entries of the tridiagonal matrix
};

}  // namespace

Solved solve_minres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options) {
  if (options.preconditioner)
    raise<ValueError>("solve_minres", "got a preconditioner; expected none, or another method");
  System system("solve_minres", a, b, options);
  MinimalResiduals method(system, 10 * detail::real_epsilon(dtype_of(a, b)));
  // The method's residual may drift from that of x, which decides the end.
  for (bool goes_on = true; goes_on && system.unsolved();) {
    const auto begin = system.residual;
    const auto x = system.x.clone();
    goes_on = method.run();
    system.r.sub_(system.times(system.x - x));
    system.residual = system.vectors.length(system.r);
    goes_on = goes_on && system.residual < begin;
    if (system.residual <= begin) continue;
    system.x = x;
    system.residual = begin;
  }
  return system.solved();
}

Solved solve_gmres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options) {
  System system("solve_gmres", a, b, options);
  auto& vectors = system.vectors;
  while (system.unsolved()) {
    Basis basis(vectors, system.r, system.residual);
    const auto begin = system.residual;
    do {
      system.end_iteration(basis.take(system.times(system.preconditioned(basis.latest()))));
    } while (system.unsolved() && basis.size() < options.restart);
    const auto change = system.preconditioned(basis.combination());
    system.x.add_(change);
    system.r.sub_(system.times(change));
    system.residual = vectors.length(system.r);
    if (system.residual >= begin) break;  // the vectors cannot make it smaller
  }
  return system.solved();
}

Solved solve_bicgstab(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options) {
  System system("solve_bicgstab", a, b, options);
  auto& vectors = system.vectors;
  auto& r = system.r;
  auto p = r.clone(), shadow = r.clone();
  auto rho = Number(system.residual * system.residual);
  while (system.unsolved() && rho != Number(0)) {
    const auto p_hat = system.preconditioned(p), v = system.times(p_hat);
    const auto along = vectors.dot(shadow, v);
    if (along == Number(0)) break;
    const auto alpha = rho / along;
    vectors.add(system.x, alpha, p_hat);
    vectors.add(r, -alpha, v);
    const auto s_hat = system.preconditioned(r), t = system.times(s_hat);
    const auto found = vectors.dots({{t, r}, {t, t}});
    const auto omega = found[1] == Number(0) ? Number(0) : found[0] / found[1];
    vectors.add(system.x, omega, s_hat);
    vectors.add(r, -omega, t);
    const auto next = vectors.dots({{shadow, r}, {r, r}});
    system.end_iteration(std::sqrt(next[1].real()), 2);
    if (omega == Number(0)) break;
    const auto beta = next[0] / rho * (alpha / omega);
    vectors.add(p, -omega, v);
    vectors.update(p, beta, r);
    rho = next[0];
  }
  return system.solved();
}

Solved solve_lsqr(const LinearOperator& a, const DNDarray& right_side, const KrylovOptions& options) {
  const auto b = detail::one_cut("solve_lsqr", right_side);
  check_options("solve_lsqr", a, b, options, false);
  if (options.preconditioner)
    raise<ValueError>("solve_lsqr", "got a preconditioner; expected none, or an operator that has it in");
  if (!a.apply_adjoint) raise<ValueError>("solve_lsqr", "got an operator without adjoint; expected one that has it");
  const auto columns = b.split() ? Layout({a.shape[1]}, 0, b.comm().size()) : b.layout().replicated({a.shape[1]});
  const auto dtype = dtype_of(a, b);
  Vectors left("solve_lsqr", b.layout(), b, dtype);
  Vectors right("solve_lsqr", columns, b, dtype);
  detail::Watch watch;
  left.carry(watch);
  right.carry(watch);
  auto x = options.x0 ? right.local(*options.x0).clone() : right.zeros();
  auto u = left.local(b).clone();
  const auto size_of_b = left.length(u);
  if (options.x0) u.sub_(left.apply(a.apply, right, x));
  Solved found{{}, 0, options.x0 ? left.length(u) : size_of_b, false};
  const auto limit = std::max(options.rtol * size_of_b, options.atol);
  const auto scaled = [](at::Tensor& v, double length) {
    return length > 0 ? static_cast<void>(v.div_(length)) : void();
  };
  scaled(u, found.residual);
  auto v = right.apply(a.apply_adjoint, left, u);
  auto alpha = right.length(v);
  scaled(v, alpha);
  auto w = v.clone();
  auto phi = found.residual, rho = alpha;
  double squares = 0;  // sum over the entries of the bidiagonal matrix, for |a|
  bool least = alpha == 0;
  const auto most = options.max_iterations.value_or(10 * std::max(a.shape[0], a.shape[1]));
  while (found.residual > limit && !least && found.iterations < most && !watch.ended()) {
    auto next = left.apply(a.apply, right, v);
    left.add(next, -alpha, u);
    const auto beta = left.length(next);
    scaled(next, beta);
    u = next;
    squares += alpha * alpha + beta * beta;
    auto after = right.apply(a.apply_adjoint, left, u);
    right.add(after, -beta, v);
    alpha = right.length(after);
    scaled(after, alpha);
    v = after;
    const auto size = std::hypot(rho, beta), c = rho / size, s = beta / size;
    right.add(x, c * phi / size, w);
    right.update(w, -s * alpha / size, v);
    rho = -c * alpha;
    phi *= s;
    found.residual = phi;
    ++found.iterations;
    least = alpha * std::abs(c) <= options.rtol * std::sqrt(squares);
    watch.ask(options.progress, found.iterations, phi);
  }
  left.settle();
  found.x = right.array(x);
  found.converged = found.residual <= limit || least;
  return told("solve_lsqr", std::move(found), limit, watch.ended());
}

}  // namespace heatpp::linalg
