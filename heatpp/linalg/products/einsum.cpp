#include <heatpp/linalg/products/einsum.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/common_dtype.hpp>
#include <heatpp/linalg/products/detail/contract.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <algorithm>
#include <cctype>
#include <map>

namespace heatpp {
namespace {

using detail::Labelled;
using Labels = std::vector<int>;

constexpr int broadcast_label = 256;  // the last axis of an ellipsis; earlier axes count up

bool contains(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

/// One expression with its operands, for messages.
struct Expression {
  std::string text;
  std::vector<std::string> terms;
  std::optional<std::string> result;

  [[noreturn]] void refuse(const std::string& expected) const {
    detail::raise<ValueError>("einsum", "got subscripts \"{}\"; expected {}", text, expected);
  }
};

Expression parsed(std::string_view subscripts) {
  Expression expression{std::string(subscripts), {}, {}};
  const auto without_spaces = [](std::string_view part) {
    std::string text(part);
    std::erase(text, ' ');
    return text;
  };
  const auto arrow = subscripts.find("->");
  if (arrow != std::string_view::npos) expression.result = without_spaces(subscripts.substr(arrow + 2));
  auto inputs = without_spaces(subscripts.substr(0, arrow));
  for (auto comma = inputs.find(','); comma != std::string::npos; comma = inputs.find(',')) {
    expression.terms.push_back(inputs.substr(0, comma));
    inputs.erase(0, comma + 1);
  }
  expression.terms.push_back(inputs);
  return expression;
}

/// Returns the labels of one term; its ellipsis, if any, stands for `hidden` axes.
Labels labels_of(const Expression& expression, const std::string& term, int hidden) {
  Labels labels;
  const auto dots = term.find("...");
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (int h = hidden - 1; h >= 0; --h) labels.push_back(broadcast_label + h);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
    } else {
      expression.refuse("letters, at most one \"...\" in a term, commas, and at most one \"->\"");
    }
  }
  return labels;
}

/// Returns the operands with their labels.
std::vector<Labelled> labelled(const Expression& expression, const std::vector<DNDarray>& operands) {
  if (operands.empty() || expression.terms.size() != operands.size())
    expression.refuse(detail::formatted("a term for each of {} operands", operands.size()));
  std::vector<Labelled> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& term = expression.terms[i];
    const bool dots = term.find("...") != std::string::npos;
    const auto hidden = operands[i].ndim() - static_cast<int>(term.size()) + (dots ? 3 : 0);
    if (hidden < 0 || (hidden > 0 && !dots))
      expression.refuse(
          detail::formatted("a term that fits operand {} of shape {}", i, to_string(operands[i].shape())));
    all.push_back({operands[i], labels_of(expression, term, hidden)});
  }
  return all;
}

using Extents = std::map<int, std::int64_t>;

Extents extents_of(const Expression& expression, const std::vector<Labelled>& operands) {
  Extents extents;
  for (const auto& [array, labels] : operands)
    for (std::size_t i = 0; i < labels.size(); ++i) {
      auto& extent = extents.try_emplace(labels[i], 1).first->second;
      const auto mine = array.shape()[i];
      // Inside one operand extents of 1 do not broadcast.
      const auto own = array.shape()[static_cast<std::size_t>(std::ranges::find(labels, labels[i]) - labels.begin())];
      if (mine != own || (mine != extent && mine != 1 && extent != 1))
        expression.refuse(
            detail::formatted("equal extents of each letter, not {} and {}", mine != own ? own : extent, mine));
      extent = extent == 1 ? mine : extent;
    }
  return extents;
}

Labels implicit_result(const std::vector<Labelled>& operands, int hidden) {
  std::map<int, int> times;
  for (const auto& operand : operands)
    for (const auto label : operand.labels) ++times[label];
  Labels result;
  for (int h = hidden - 1; h >= 0; --h) result.push_back(broadcast_label + h);
  for (const auto& [label, count] : times)
    if (label < broadcast_label && count == 1) result.push_back(label);
  return result;
}

Labels result_labels(const Expression& expression, const std::vector<Labelled>& operands, const Extents& extents) {
  const auto hidden = static_cast<int>(std::distance(extents.lower_bound(broadcast_label), extents.end()));
  if (!expression.result) return implicit_result(operands, hidden);
  auto labels = labels_of(expression, *expression.result, hidden);
  for (const auto label : labels)
    if (!extents.contains(label) || std::ranges::count(labels, label) > 1)
      expression.refuse("a result of different letters that the operands have");
  if (hidden > 0 && !contains(labels, broadcast_label))
    expression.refuse("\"...\" in the result where operands have it");
  return labels;
}

/// Takes the diagonal for each letter that occurs twice.
void take_diagonals(Labelled& x) {
  for (std::size_t i = 0; i < x.labels.size();) {
    const auto label = x.labels[i];
    const auto again = std::find(x.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, x.labels.end(), label);
    if (again == x.labels.end()) {
      ++i;
      continue;
    }
    x.array = diagonal(x.array, {.axis1 = static_cast<int>(i), .axis2 = static_cast<int>(again - x.labels.begin())});
    x.labels.erase(again);
    x.labels.erase(x.labels.begin() + static_cast<std::ptrdiff_t>(i));
    x.labels.push_back(label);
    i = 0;
  }
}

void drop_broadcast_axes(Labelled& x, const Extents& extents) {
  for (int i = x.array.ndim() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (x.array.shape()[at] == extents.at(x.labels[at])) continue;
    x.array = squeeze(x.array, i);
    x.labels.erase(x.labels.begin() + i);
  }
}

/// Sums over the axes whose labels are not needed, in the dtype of `x`.
void sum_out(Labelled& x, const Labels& needed) {
  std::vector<int> axes;
  for (const auto label : x.labels)
    if (!contains(needed, label)) axes.push_back(x.axis(label));
  if (axes.empty()) return;
  const auto dtype = x.array.dtype();
  x.array = dtype == bool_ ? any(x.array, {.axis = axes}) : sum(x.array, {.axis = axes}).astype(dtype);
  std::erase_if(x.labels, [&](int label) { return !contains(needed, label); });
}

/// Returns the labels of the result and of all operands except i and j.
Labels needed_beside(const std::vector<Labelled>& operands, const Labels& result, std::size_t i, std::size_t j) {
  auto needed = result;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (k != i && k != j) needed.insert(needed.end(), operands[k].labels.begin(), operands[k].labels.end());
  return needed;
}

/// Returns the labels of i and j that remain in their product.
Labels product_labels(const std::vector<Labelled>& operands, const Labels& result, std::size_t i, std::size_t j) {
  if (operands.size() == 2) return result;
  const auto needed = needed_beside(operands, result, i, j);
  Labels labels;
  for (const auto k : {i, j})
    for (const auto label : operands[k].labels)
      if (contains(needed, label) && !contains(labels, label)) labels.push_back(label);
  return labels;
}

std::pair<std::size_t, std::size_t> cheapest_pair(const std::vector<Labelled>& operands, const Labels& result,
                                                  const Extents& extents) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  double least = -1;
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (auto j = i + 1; j < operands.size(); ++j) {
      double size = 1;
      for (const auto label : product_labels(operands, result, i, j)) size *= static_cast<double>(extents.at(label));
      if (least >= 0 && size >= least) continue;
      least = size;
      best = {i, j};
    }
  return best;
}

DNDarray in_order(const Labelled& x, const Labels& result) {
  std::vector<int> order;
  for (const auto label : result) order.push_back(x.axis(label));
  const auto view = std::ranges::is_sorted(order) ? x.array : transpose(x.array, order);
  return detail::wrap(view.larray().contiguous(), view.layout(), view.comm());
}

}  // namespace

DNDarray einsum(std::string_view subscripts, const std::vector<DNDarray>& arrays) {
  const auto expression = parsed(subscripts);
  auto operands = labelled(expression, arrays);
  const auto extents = extents_of(expression, operands);
  const auto result = result_labels(expression, operands, extents);
  const auto dtype = detail::common_dtype(arrays);
  for (auto& operand : operands) {
    take_diagonals(operand);
    drop_broadcast_axes(operand, extents);
    operand.array = operand.array.astype(dtype);  // in which sums and products of some operands are computed, too
  }
  for (std::size_t i = 0; i < operands.size(); ++i) sum_out(operands[i], needed_beside(operands, result, i, i));
  while (operands.size() > 1) {
    const auto [i, j] = cheapest_pair(operands, result, extents);
    const auto labels = product_labels(operands, result, i, j);
    operands[i] = {detail::contract("einsum", operands[i], operands[j], labels), labels};
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return in_order(operands.front(), result);
}

}  // namespace heatpp
