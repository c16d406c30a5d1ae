#include <heatpp/sparse/detail/gustavson.hpp>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <bit>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t rows_of_a_thread = 2048;

/// The rows of a product that one thread makes. Its memory grows to the size that the rows so far predict.
template <class T, class Column>
class ThreadRows {
 public:
  ThreadRows(std::int64_t rows, const at::TensorOptions& of_columns, const at::TensorOptions& of_values)
      : row_ptr_(at::zeros({rows + 1}, at::kLong)),
        end_(row_ptr_.data_ptr<std::int64_t>()),
        columns_(at::empty({0}, of_columns)),
        values_(at::empty({0}, of_values)) {}
  /// Returns where the entries of the next row go; there are at most `most`.
  std::pair<Column*, T*> next_row(std::int64_t most) {
    if (*end_ + most > columns_.numel()) grow(*end_ + most);
    return {column_ + *end_, value_ + *end_};
  }
  void end_row(std::int64_t entries) {
    end_[1] = end_[0] + entries;
    ++end_;
  }
  [[nodiscard]] CsrBlock block() const { return {row_ptr_, columns_.narrow(0, 0, *end_), values_.narrow(0, 0, *end_)}; }

 private:
  void grow(std::int64_t needed) {
    const auto used = *end_, done = end_ - row_ptr_.data_ptr<std::int64_t>(), rows = row_ptr_.numel() - 1;
    const auto alike = static_cast<double>(needed) / static_cast<double>(done + 1) * static_cast<double>(rows);
    const auto size = done * 32 < rows ? 2 * needed + 4096 : std::max(needed, static_cast<std::int64_t>(1.05 * alike));
    for (auto* numbers : {&columns_, &values_}) {
      auto larger = at::empty({size}, numbers->options());
      larger.narrow(0, 0, used).copy_(numbers->narrow(0, 0, used));
      *numbers = larger;
    }
    column_ = columns_.data_ptr<Column>(), value_ = values_.data_ptr<T>();
  }
  at::Tensor row_ptr_;
  std::int64_t* end_;
  at::Tensor columns_, values_;
  Column* column_ = nullptr;
  T* value_ = nullptr;
};

/// One row at a time, as a vector of all columns that is 0 except where bits are set.
template <class T, class Column>
class Accumulator {
 public:
  explicit Accumulator(std::int64_t columns)
      : sums_(static_cast<std::size_t>(columns)), bits_(static_cast<std::size_t>(columns / 64 + 1)) {}
  /// Adds factor times a row, whose columns increase, so that several share a word of bits.
  void add(const Column* column, const T* value, std::int64_t count, T factor) {
    auto* const sums = sums_.data();
    for (std::int64_t i = 0; i < count;) {
      const auto at = static_cast<std::size_t>(column[i]) / 64;
      const auto before = bits_[at];
      auto word = before;
      for (; i < count && static_cast<std::size_t>(column[i]) / 64 == at; ++i) {
        word |= std::uint64_t{1} << static_cast<std::size_t>(column[i]) % 64;
        sums[column[i]] += factor * value[i];
      }
      if (before == 0) words_.push_back(at);
      bits_[at] = word;
    }
  }
  void flush(ThreadRows<T, Column>& part) {
    std::ranges::sort(words_);
    auto [column, value] = part.next_row(64 * std::ssize(words_));
    auto* const begin = column;
    for (const auto at : words_)
      for (auto word = std::exchange(bits_[at], 0); word != 0; word &= word - 1) {
        const auto c = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
        *column++ = static_cast<Column>(c);
        *value++ = std::exchange(sums_[c], T(0));
      }
    part.end_row(column - begin);
    words_.clear();
  }

 private:
  std::vector<T> sums_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> words_;  ///< words with bits
};

/// Rows of the right operand: this rank's, then those of others.
template <class T, class Column>
class Rows {
 public:
  explicit Rows(const RowBlocks& from) : blocks_{Block(from.own), Block(from.others)}, own_(from.own.rows()) {}
  void add_to(Accumulator<T, Column>& sums, std::int64_t place, T factor) const {
    const auto& [ptr, column, value] = blocks_[place >= own_];
    const auto row = place >= own_ ? place - own_ : place;
    sums.add(column + ptr[row], value + ptr[row], ptr[row + 1] - ptr[row], factor);
  }

 private:
  struct Block {
    const std::int64_t* ptr;
    const Column* column;
    const T* value;
    explicit Block(const CsrBlock& of)
        : ptr(of.ptr()), column(of.columns.const_data_ptr<Column>()), value(of.values.const_data_ptr<T>()) {}
  };
  std::array<Block, 2> blocks_;
  std::int64_t own_;
};

template <class T, class Column>
CsrBlock multiplied(const CsrBlock& a, const RowBlocks& b, std::int64_t columns, std::int64_t first,
                    std::int64_t last) {
  ThreadRows<T, Column> part(last - first, b.own.columns.options(), a.values.options());
  Accumulator<T, Column> sums(columns);
  const Rows<T, Column> rows(b);
  const auto* const ptr = a.ptr();
  const auto* const place = a.columns.const_data_ptr<std::int64_t>();
  const auto* const value = a.values.const_data_ptr<T>();
  for (auto row = first; row < last; ++row) {
    for (auto i = ptr[row]; i < ptr[row + 1]; ++i) rows.add_to(sums, place[i], value[i]);
    sums.flush(part);
  }
  return part.block();
}

template <class T, class Column>
CsrBlock product(const CsrBlock& a, const RowBlocks& b, std::int64_t columns) {
  const auto wanted = std::clamp<std::int64_t>(a.rows() / rows_of_a_thread, 1, std::int64_t{at::get_num_threads()});
  std::vector<CsrBlock> parts(static_cast<std::size_t>(wanted));
  at::parallel_for(0, wanted, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p)
      parts[static_cast<std::size_t>(p)] =
          multiplied<T, Column>(a, b, columns, a.rows() * p / wanted, a.rows() * (p + 1) / wanted);
  });
  if (wanted == 1) return parts[0];
  std::vector<at::Tensor> row_ptr{at::zeros({1}, at::kLong)}, of_columns, values;
  std::int64_t before = 0;
  for (const auto& part : parts) {
    row_ptr.push_back(part.row_ptr.narrow(0, 1, part.rows()) + before);
    of_columns.push_back(part.columns), values.push_back(part.values);
    before += part.entries();
  }
  return {at::cat(row_ptr), at::cat(of_columns), at::cat(values)};
}

}  // namespace

CsrBlock gustavson(const CsrBlock& a, const RowBlocks& b, std::int64_t columns) {
  return AT_DISPATCH_ALL_TYPES_AND_COMPLEX(a.values.scalar_type(), "gustavson", [&] {
    return b.own.columns.scalar_type() == at::kInt ? product<scalar_t, std::int32_t>(a, b, columns)
                                                   : product<scalar_t, std::int64_t>(a, b, columns);
  });
}

}  // namespace heatpp::sparse::detail
