#include <heatpp/core/printing.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <span>

namespace heatpp {
namespace {

PrintOptions& options() {
  static PrintOptions current;
  return current;
}

bool& blocks_alone() {
  static bool current = false;
  return current;
}

bool summarised(std::int64_t extent, bool summarise) {
  return summarise && extent - options().edgeitems > options().edgeitems;
}

/// Returns the indices shown of a summarized axis.
std::vector<std::int64_t> edges(std::int64_t extent) {
  std::vector<std::int64_t> shown(static_cast<std::size_t>(2 * options().edgeitems));
  const auto middle = shown.begin() + options().edgeitems;
  std::iota(shown.begin(), middle, std::int64_t{0});
  std::iota(middle, shown.end(), extent - options().edgeitems);
  return shown;
}

/// Returns the elements shown of `x`, on every rank.
at::Tensor shown_part(const DNDarray& x, bool summarise) {
  auto part = x.larray();
  const auto& layout = x.layout();
  auto shape = x.shape();
  std::vector<detail::Cut> cuts;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    auto& extent = shape[static_cast<std::size_t>(axis)];
    cuts.push_back(layout.cut_along(axis));
    if (!summarised(extent, summarise)) continue;
    auto& cut = cuts.back();
    const auto place = layout.place_along(axis, x.comm().rank());
    const auto first = cut.first(place), last = cut.last(place);
    auto keep = edges(extent);
    extent = std::ssize(keep);
    std::vector<std::int64_t> offsets;
    for (int r = 0; r <= cut.ranks(); ++r)
      offsets.push_back(std::ranges::lower_bound(keep, cut.first(r)) - keep.begin());
    std::erase_if(keep, [&](auto i) { return i < first || i >= last; });
    for (auto& i : keep) i -= first;
    cut = detail::Cut::at(std::move(offsets));
    part = part.index_select(axis, at::tensor(at::ArrayRef<std::int64_t>(keep), at::kLong).to(part.device()));
  }
  if (!layout.is_cut()) return part.cpu();
  const auto cut = layout.recut(shape, std::move(cuts));
  return detail::relayout(detail::wrap(part, cut, x.comm()), cut.replicated(shape)).cpu();
}

std::string real_text(double value, bool scientific) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return scientific ? detail::formatted("{:.{}e}", value, options().precision)
                    : detail::formatted("{:.{}f}", value, options().precision);
}

/// Returns the texts of float64 numbers, all with exponents or none.
std::vector<std::string> real_texts(const at::Tensor& values) {
  const std::span numbers(values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel()));
  double largest = 0, smallest = INFINITY;
  for (const auto number : numbers) {
    const auto size = std::abs(number);
    if (!std::isfinite(size) || size == 0) continue;
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
  }
  const bool far = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1000));
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(real_text(number, options().sci_mode.value_or(far)));
  return texts;
}

std::vector<std::string> complex_texts(const at::Tensor& values) {
  auto texts = real_texts(at::real(values).contiguous());
  const auto imaginary = real_texts(at::imag(values).contiguous());
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i] += (imaginary[i].starts_with('-') ? "" : "+") + imaginary[i] + "j";
  return texts;
}

std::vector<std::string> element_texts(const at::Tensor& part, Dtype dtype) {
  const auto flat = part.contiguous().view(-1);
  if (is_complex(dtype)) return complex_texts(flat.to(at::kComplexDouble));
  if (is_floating(dtype)) return real_texts(flat.to(at::kDouble));
  const auto values = flat.to(at::kLong);
  std::vector<std::string> texts;
  for (const auto i : std::span(values.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(values.numel())))
    texts.push_back(dtype != bool_ ? std::to_string(i) : i != 0 ? "True" : "False");
  return texts;
}

/// Writes nested brackets around the texts of a C-ordered array.
class Writer {
 public:
  Writer(const Shape& global, bool summarise, std::vector<std::string> texts)
      : global_(global), summarise_(summarise), texts_(std::move(texts)) {
    for (const auto& text : texts_) width_ = std::max(width_, text.size());
  }

  std::string write(std::size_t axis, std::size_t indent) {
    if (axis == global_.size()) return detail::formatted("{:>{}}", texts_[next_++], width_);
    const auto parts = parts_of(axis, indent + 1);
    const auto below = global_.size() - axis - 1;
    const auto next_line = std::string(",").append(std::max<std::size_t>(1, below), '\n').append(indent + 1, ' ');
    const bool rows = below > 0;
    std::string text = "[";
    auto column = indent + 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // A comma follows a part, or the brackets that end its row.
      const bool wrap = rows || column + 2 + parts[i].size() + axis + 1 > options().linewidth;
      if (i > 0) text += wrap ? next_line : ", ";
      if (i > 0) column = wrap ? indent + 1 : column + 2;
      column += parts[i].size();
      text += parts[i];
    }
    return text + "]";
  }

 private:
  /// Returns the parts along an axis, with an ellipsis for those that are left out.
  std::vector<std::string> parts_of(std::size_t axis, std::size_t indent) {
    const bool cut = summarised(global_[axis], summarise_);
    const auto shown = cut ? 2 * options().edgeitems : global_[axis];
    std::vector<std::string> parts;
    for (std::int64_t i = 0; i <= shown; ++i) {
      if (cut && shown == 2 * i) parts.emplace_back("...");
      if (i < shown) parts.push_back(write(axis + 1, indent));
    }
    return parts;
  }

  const Shape& global_;
  bool summarise_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0, next_ = 0;
};

}  // namespace

void set_printoptions(const PrintOptions& wanted) {
  if (wanted.precision < 0 || wanted.edgeitems < 0)
    detail::raise<ValueError>("set_printoptions", "got precision {}, edgeitems {}; expected neither below 0",
                              wanted.precision, wanted.edgeitems);
  options() = wanted;
}
PrintOptions get_printoptions() { return options(); }

void local_printing() { blocks_alone() = true; }
void global_printing() { blocks_alone() = false; }

namespace {

std::string cut_of(const Layout& layout) {
  if (layout.is_grid()) return "grid=" + detail::tuple_text(layout.grid());
  return "split=" + (layout.split() ? std::to_string(*layout.split()) : "None");
}

}  // namespace

std::string to_string(const DNDarray& array) {
  const auto& comm = array.comm();
  const auto x = blocks_alone() ? detail::wrap(array.larray(), array.layout().replicated(array.lshape()), comm) : array;
  const bool summarise = x.size() > options().threshold;
  const auto part = shown_part(x, summarise);
  const auto head = (blocks_alone() ? detail::formatted("[{}/{}] ", comm.rank(), comm.size()) : "") + "DNDarray(";
  auto body = x.size() == 0 ? "[]" : Writer(x.shape(), summarise, element_texts(part, x.dtype())).write(0, head.size());
  return detail::formatted("{}{}, shape={}, dtype={}, {})", head, body, to_string(x.shape()), name(x.dtype()),
                           cut_of(array.layout()));
}

std::string detail::text_of(const Scalar& number) {
  if (number.is_bool()) return number.to<bool>() ? "true" : "false";
  if (number.is_integral()) return detail::formatted("{}", number.to<std::int64_t>());
  if (number.is_floating()) return detail::formatted("{:.{}g}", number.to<double>(), options().precision + 2);
  const auto value = number.to<std::complex<double>>();
  return detail::formatted("{:.{}g}{:+.{}g}j", value.real(), options().precision + 2, value.imag(),
                           options().precision + 2);
}

std::ostream& operator<<(std::ostream& out, const DNDarray& x) { return out << to_string(x); }

void print(const DNDarray& x) {
  const auto text = to_string(x);
  if (blocks_alone() || x.comm().rank() == 0) std::puts(text.c_str());
}
void print0(const DNDarray& x) {
  const auto text = to_string(x);
  if (x.comm().rank() == 0) std::puts(text.c_str());
}

void detail::print_line(const std::vector<std::string>& texts, const DNDarray* array) {
  if ((array ? array->comm().rank() : program_rank()) != 0) return;
  std::string line;
  for (const auto& text : texts) line += (line.empty() ? "" : " ") + text;
  std::puts(line.c_str());
}

void print(std::string_view text) { detail::print_line({std::string(text)}, nullptr); }

}  // namespace heatpp
