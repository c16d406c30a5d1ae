#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/tree/detail/bins.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::ml::detail {
namespace {

/// Distinct numbers in increasing order; stops at more than `most`.
class Distinct {
 public:
  explicit Distinct(std::int64_t most) : most_(most) {}
  void add(double x) {
    if (x != x || std::ssize(numbers_) > most_) return;
    x += 0.0;  // makes -0 equal to 0
    const auto place = std::ranges::lower_bound(numbers_, x);
    if (place == numbers_.end() || *place != x) numbers_.insert(place, x);
  }
  [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }

 private:
  std::int64_t most_;
  std::vector<double> numbers_;
};

/// Returns the distinct numbers of this rank's rows.
std::vector<Distinct> own_numbers(const Rows& rows, std::span<const std::int64_t> features, std::int64_t most) {
  std::vector<std::vector<Distinct>> of_thread(threads(), std::vector<Distinct>(features.size(), Distinct(most)));
  const auto work = [&] {
    for_pieces(rows, [&](const auto& piece, int thread) {
      auto& found = of_thread[static_cast<std::size_t>(thread)];
      for (std::int64_t i = 0; i < piece.rows; ++i)
        for (std::size_t c = 0; c < features.size(); ++c) found[c].add(static_cast<double>(piece.row(i)[features[c]]));
    });
  };
  if (rows.in_memory()) work();
  else all_or_none(rows.comm(), work);
  for (std::size_t t = 1; t < of_thread.size(); ++t)
    for (std::size_t c = 0; c < features.size(); ++c)
      for (const auto x : of_thread[t][c].numbers()) of_thread[0][c].add(x);
  return of_thread[0];
}

/// A set as numbers of fixed length: how many it may have, how many it has, and these.
std::int64_t record_length(std::int64_t most) { return most + 3; }
void write(const Distinct& found, double* record) {
  record[1] = static_cast<double>(found.numbers().size());
  std::ranges::copy(found.numbers(), record + 2);
}
Distinct read(const double* record) {
  Distinct found(static_cast<std::int64_t>(record[0]));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(record[1]); ++i) found.add(record[2 + i]);
  return found;
}

void merge(const void* in, void* inout, std::int64_t n) {
  const auto* from = static_cast<const double*>(in);
  auto* to = static_cast<double*>(inout);
  const auto length = record_length(static_cast<std::int64_t>(from[0]));
  for (std::int64_t i = 0; i < n; ++i, from += length, to += length) {
    auto both = read(to);
    const auto others = read(from);
    for (const auto x : others.numbers()) both.add(x);
    write(both, to);
  }
}

/// Adds the numbers of the other ranks.
void add_others(const Communicator& comm, std::int64_t most, std::vector<Distinct>& found) {
  const auto length = static_cast<std::size_t>(record_length(most));
  std::vector<double> records(found.size() * length, static_cast<double>(most));
  for (std::size_t c = 0; c < found.size(); ++c) write(found[c], &records[c * length]);
  comm.allreduce_records(records.data(), std::ssize(found), record_length(most) * std::int64_t{sizeof(double)}, merge);
  for (std::size_t c = 0; c < found.size(); ++c) found[c] = read(&records[c * length]);
}

}  // namespace

std::vector<std::vector<double>> categories_of(const char* op, const Rows& rows, std::span<const std::int64_t> features,
                                               std::int64_t most) {
  auto found = own_numbers(rows, features, most);
  if (rows.distributed() && !found.empty()) add_others(rows.comm(), most, found);
  std::vector<std::vector<double>> result;
  for (std::size_t c = 0; c < features.size(); ++c) {
    if (std::ssize(found[c].numbers()) > most)
      heatpp::detail::raise<ValueError>(op, "got more than {} categories in feature {}; expected at most max_bins",
                                        most, features[c]);
    result.push_back(found[c].numbers());
  }
  return result;
}

Categories categories_in(const Bins& bins) {
  Categories result(bins.by_set.size());
  for (std::size_t j = 0; j < bins.by_set.size(); ++j)
    if (const auto* values = bins.values_of(static_cast<std::int64_t>(j)); bins.by_set[j] != 0)
      result[j].assign(values, values + bins.count[j]);
  return result;
}

template <class T>
std::vector<T> by_position(const Piece<T>& piece, const Categories& categories) {
  std::vector<T> rows(piece.data, piece.data + piece.rows * piece.features);
  for (std::size_t j = 0; j < categories.size(); ++j) {
    const auto& known = categories[j];
    if (known.empty()) continue;
    for (auto at = j; at < rows.size(); at += static_cast<std::size_t>(piece.features)) {
      const auto x = static_cast<double>(rows[at]);
      const auto place = std::ranges::lower_bound(known, x);
      const bool is_known = place != known.end() && *place == x;
      rows[at] = is_known ? static_cast<T>(place - known.begin()) : std::numeric_limits<T>::quiet_NaN();
    }
  }
  return rows;
}
template std::vector<float> by_position(const Piece<float>&, const Categories&);
template std::vector<double> by_position(const Piece<double>&, const Categories&);

}  // namespace heatpp::ml::detail
