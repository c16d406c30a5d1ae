#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/gram.hpp>

namespace heatpp::ml::detail {
namespace {

Gram nothing(std::int64_t columns) {
  return {0, at::zeros({columns}, at::kDouble), at::zeros({columns, columns}, at::kDouble)};
}

void check_targets(const char* op, const at::Tensor& targets, std::int64_t first) {
  if (targets.isfinite().all().item<bool>()) return;
  const auto row = targets.isfinite().all(1).logical_not().nonzero()[0].item<std::int64_t>();
  heatpp::detail::raise<ValueError>(op, "got a target that is not finite in row {}; expected finite numbers",
                                    first + row);
}

/// Adds `piece`, (rows, columns) of float64, to `sum`.
void add(Gram& sum, const at::Tensor& piece, const std::optional<at::Tensor>& weights) {
  const auto weighted = weights ? piece * weights->unsqueeze(1) : piece;
  const auto n = weights ? weights->sum().item<double>() : static_cast<double>(piece.size(0));
  if (!(n > 0)) return;
  const auto mean = weighted.sum(0) / n, centred = piece - mean;
  sum.scatter.addmm_((weights ? centred * weights->unsqueeze(1) : centred).t(), centred);
  const auto difference = mean - sum.mean;
  sum.scatter.addr_(difference, difference, 1, sum.n * (n / (sum.n + n)));
  sum.n += n;
  sum.mean.add_(difference, n / sum.n);
}

/// A Gram as it is sent: columns, failures, weight, means, and the scatter's lower triangle.
struct Record {
  double* numbers;
  [[nodiscard]] static std::int64_t size(std::int64_t c) { return 3 + c + c * (c + 1) / 2; }
  [[nodiscard]] std::int64_t columns() const { return static_cast<std::int64_t>(numbers[0]); }
  [[nodiscard]] double& failures() const { return numbers[1]; }
  [[nodiscard]] double& n() const { return numbers[2]; }
  [[nodiscard]] double* mean() const { return numbers + 3; }
  [[nodiscard]] double* triangle() const { return mean() + columns(); }
};

void merge(const Record& a, const Record& b) {
  b.failures() += a.failures();
  if (!(a.n() > 0)) return;
  const auto columns = b.columns();
  const auto total = a.n() + b.n(), product = b.n() * (a.n() / total), part = a.n() / total;
  std::vector<double> difference(static_cast<std::size_t>(columns));
  for (std::size_t j = 0; j < difference.size(); ++j) difference[j] = a.mean()[j] - b.mean()[j];
  auto *to = b.triangle(), *from = a.triangle();
  for (std::size_t i = 0; i < difference.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) *to++ += *from++ + difference[i] * difference[j] * product;
  for (std::size_t j = 0; j < difference.size(); ++j) b.mean()[j] += difference[j] * part;
  b.n() = total;
}

/// Records have a length of their own, and come one at a time.
void merge_record(const void* in, void* inout, std::int64_t) {
  merge({const_cast<double*>(static_cast<const double*>(in))}, {static_cast<double*>(inout)});
}

std::vector<double> packed(const Gram& gram, bool failed) {
  const auto columns = gram.mean.size(0);
  std::vector<double> numbers(static_cast<std::size_t>(Record::size(columns)));
  numbers[0] = static_cast<double>(columns);
  const Record record{numbers.data()};
  record.failures() = failed ? 1 : 0;
  record.n() = gram.n;
  std::copy_n(gram.mean.const_data_ptr<double>(), columns, record.mean());
  const auto* from = gram.scatter.const_data_ptr<double>();
  auto* to = record.triangle();
  for (std::int64_t i = 0; i < columns; ++i) to = std::copy_n(from + i * columns, i + 1, to);
  return numbers;
}

Gram unpacked(const Record& record) {
  auto gram = nothing(record.columns());
  gram.n = record.n();
  std::copy_n(record.mean(), record.columns(), gram.mean.data_ptr<double>());
  auto* to = gram.scatter.data_ptr<double>();
  const auto* from = record.triangle();
  const auto columns = record.columns();
  for (std::int64_t i = 0; i < columns; ++i)
    for (std::int64_t j = 0; j <= i; ++j) to[i * columns + j] = to[j * columns + i] = *from++;
  return gram;
}

}  // namespace

Gram gram(const char* op, const Rows& rows, const GramOptions& options) {
  const auto columns = rows.features() + (options.targets ? options.targets->size(1) : 0);
  std::vector<Gram> sums;
  for (std::size_t t = 0; t < threads(); ++t) sums.push_back(nothing(columns));
  const auto failure = heatpp::detail::failure_of([&] {
    for_blocks(rows, [&](const at::Tensor& block, std::int64_t first, int thread) {
      with_piece(block, first, [&](const auto& piece) { check_finite(op, rows, piece); });
      auto wide = block.to(at::kDouble);
      const auto n = block.size(0);
      if (options.targets) {
        const auto targets = options.targets->slice(0, first, first + n);
        check_targets(op, targets, rows.first() + first);
        wide = at::cat({wide, targets}, 1);
      }
      std::optional<at::Tensor> weights;
      if (options.weights) weights = at::from_blob(const_cast<double*>(options.weights + first), {n}, at::kDouble);
      add(sums[static_cast<std::size_t>(thread)], wide, weights);
    });
  });
  auto total = packed(sums[0], failure.has_value());
  for (std::size_t t = 1; t < sums.size(); ++t) merge({packed(sums[t], false).data()}, {total.data()});
  const auto bytes = static_cast<std::int64_t>(total.size() * sizeof(double));
  if (rows.distributed()) rows.comm().allreduce_records(total.data(), 1, bytes, &merge_record);
  if (Record{total.data()}.failures() > 0) rows.comm().agree(failure);
  return unpacked({total.data()});
}

}  // namespace heatpp::ml::detail
