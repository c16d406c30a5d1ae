#include <heatpp/ml/cluster/detail/nearby.hpp>

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ml/cluster/detail/boxes.hpp>
#include <heatpp/ml/detail/around.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::Route;

at::Tensor ordered(const at::Tensor& x, const std::vector<std::int64_t>& order) {
  return x.index_select(0, at::tensor(order, at::kLong));
}

/// Returns this rank's rows, moved into the periodic box if there is one.
at::Tensor rows_in_box(const Rows& x, const Within& within) {
  auto rows = block_of(x, float64);
  const auto& box = within.box();
  if (std::ranges::any_of(box, [](double length) { return std::isfinite(length); })) rows = rows.clone();
  for (std::size_t a = 0; a < box.size(); ++a)
    if (std::isfinite(box[a])) rows.select(1, static_cast<std::int64_t>(a)).remainder_(box[a]);
  return rows;
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

class ComparedWithAll final : public Nearby {
 public:
  ComparedWithAll(const Rows& x, const Within& within) : x_(x) {
    keep(within, rows_in_box(x, within), numbers_from(x.first(), x.count()));
  }

  void around(const at::Tensor& values, const Visit& f) const override {
    const auto features = x_.features();
    const auto mine = values.defined() ? at::cat({rows(), values.unsqueeze(1)}, 1) : rows();
    detail::around(mine, x_.layout(), x_.comm(), [&](const at::Tensor& block, std::int64_t first) {
      if (!values.defined()) return f(block, values, first == x_.first());
      f(block.slice(1, 0, features).contiguous(), block.select(1, features).contiguous(), first == x_.first());
    });
  }

 private:
  const Rows& x_;
};

class MovedToBoxes final : public Nearby {
 public:
  MovedToBoxes(const Rows& x, const Within& within) : comm_(x.comm()) {
    const auto mine = rows_in_box(x, within);
    const Boxes boxes(x, mine);
    const auto f = x.features();
    const auto* at = mine.const_data_ptr<double>();
    auto owners = at::empty({x.count()}, at::kLong);
    for (std::int64_t i = 0; i < x.count(); ++i) owners.data_ptr<std::int64_t>()[i] = boxes.owner(at + i * f);
    moved_ = heatpp::detail::route_to(owners, comm_);
    const auto numbered = at::cat({mine, at::arange(x.first(), x.first() + x.count(), at::kDouble).unsqueeze(1)}, 1);
    const auto arrived = moved_->there(numbered);  // ordered by sender, and thus by number
    const auto numbers = arrived.select(1, f).to(at::kLong).contiguous();
    const auto* number = numbers.const_data_ptr<std::int64_t>();
    keep(within, arrived.slice(1, 0, f).contiguous(), {number, number + numbers.numel()});
    copy_to_others(boxes, within);
  }

  void around(const at::Tensor& values, const Visit& f) const override {
    const auto of_others =
        values.defined() ? ordered(copied_->there(values.index_select(0, sources_)), copies_order_) : at::Tensor();
    comm_.agree(heatpp::detail::failure_of([&] {
      f(rows(), values, true);
      if (copies_.size(0) > 0) f(copies_, of_others, false);
    }));
  }
  [[nodiscard]] at::Tensor home(const at::Tensor& values) const override { return moved_->back(values); }

 private:
  void copy_to_others(const Boxes& boxes, const Within& within) {
    std::vector<std::int64_t> sources, targets;
    std::vector<int> ranks;
    for (std::int64_t i = 0; i < count(); ++i) {
      ranks.clear();
      within.each_image(rows().const_data_ptr<double>() + i * rows().size(1),
                        [&](const double* place) { boxes.near(place, within.reach(), ranks); });
      std::ranges::sort(ranks);
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      for (const auto rank : ranks)
        if (rank != comm_.rank()) sources.push_back(i), targets.push_back(rank);
    }
    sources_ = at::tensor(sources, at::kLong);
    copied_ = heatpp::detail::route_to(at::tensor(targets, at::kLong), comm_);
    const auto copies = copied_->there(rows().index_select(0, sources_));
    copies_order_ = within.order(copies);
    copies_ = ordered(copies, copies_order_);
  }

  Communicator comm_;
  std::optional<Route> moved_, copied_;
  at::Tensor sources_, copies_;
  std::vector<std::int64_t> copies_order_;
};

}  // namespace

void Nearby::keep(const Within& within, const at::Tensor& rows, std::vector<std::int64_t> numbers) {
  order_ = within.order(rows);
  rows_ = ordered(rows, order_);
  numbers_ = std::move(numbers);
}

std::unique_ptr<Nearby> compared_with_all(const Rows& rows, const Within& within) {
  return std::make_unique<ComparedWithAll>(rows, within);
}
std::unique_ptr<Nearby> moved_to_boxes(const Rows& rows, const Within& within) {
  return std::make_unique<MovedToBoxes>(rows, within);
}

}  // namespace heatpp::ml::detail
