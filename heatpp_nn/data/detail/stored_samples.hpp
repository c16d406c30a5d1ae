#pragma once

#include <heatpp/random/detail/bijection.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_nn/data/detail/samples.hpp>

namespace heatpp::nn::detail {

/// Rows in files. Each rank reads the rows that it needs.
class StoredSamples : public Samples {
 public:
  StoredSamples(std::vector<io::StoredRows> arrays, FieldNames names, std::int64_t window_bytes)
      : StoredSamples(arrays, std::move(names), window_bytes, arrays.front().comm()) {}
  StoredSamples(std::vector<io::StoredRows> arrays, FieldNames names, std::int64_t window_bytes,
                const Communicator& comm);
  [[nodiscard]] const Layout& layout() const override { return layout_; }
  [[nodiscard]] const Communicator& comm() const override { return comm_; }
  [[nodiscard]] const std::shared_ptr<const FieldNames>& fields() const override { return fields_; }
  [[nodiscard]] Window reach(const at::Tensor& rows) const override;
  [[nodiscard]] Window fetch(const at::Tensor& rows) const override { return reach(rows); }
  [[nodiscard]] bool is_stored() const override { return true; }
  [[nodiscard]] std::int64_t row_bytes() const override { return row_bytes_; }
  [[nodiscard]] std::int64_t window_bytes() const override { return window_bytes_; }
  [[nodiscard]] std::shared_ptr<const Samples> on_remaining(const Communicator& left) const override {
    return std::make_shared<StoredSamples>(arrays_, *fields_, window_bytes_, left);
  }

 private:
  std::shared_ptr<const FieldNames> fields_;
  std::vector<io::StoredRows> arrays_;
  Communicator comm_;
  Layout layout_;
  std::int64_t row_bytes_ = 0, window_bytes_;
};

/// Some rows of a stored dataset: row i is its row order(first + i).
class PartOfSamples : public Samples {
 public:
  PartOfSamples(const Dataset& whole, const random::detail::Bijection& order, std::int64_t first, std::int64_t count);
  [[nodiscard]] const Layout& layout() const override { return layout_; }
  [[nodiscard]] const Communicator& comm() const override { return whole_.comm(); }
  [[nodiscard]] const std::shared_ptr<const FieldNames>& fields() const override { return whole_.samples().fields(); }
  [[nodiscard]] Window reach(const at::Tensor& rows) const override;
  [[nodiscard]] Window fetch(const at::Tensor& rows) const override { return reach(rows); }
  [[nodiscard]] bool is_stored() const override { return true; }
  [[nodiscard]] std::int64_t row_bytes() const override { return whole_.samples().row_bytes(); }
  [[nodiscard]] std::int64_t window_bytes() const override { return whole_.samples().window_bytes(); }
  [[nodiscard]] std::shared_ptr<const Samples> on_remaining(const Communicator& left) const override {
    return std::make_shared<PartOfSamples>(whole_.on_remaining(left), order_, first_, layout_.shape()[0]);
  }

 private:
  Dataset whole_;
  random::detail::Bijection order_;
  std::int64_t first_;
  Layout layout_;
};

}  // namespace heatpp::nn::detail
