#include <heatpp/ml/detail/state.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::raise;

bool fits(const Shape& shape, const Shape& expected) {
  return std::ranges::equal(shape, expected, [](auto n, auto wanted) { return wanted == -1 || n == wanted; });
}

}  // namespace

StateReader::StateReader(const char* kind, const ModelState& state)
    : kind_(kind), op_(kind, "from_state"), state_(state) {
  if (state.kind != kind) raise<ValueError>(op_, "got the state of \"{}\"; expected that of {}", state.kind, kind);
}

DNDarray StateReader::array(const char* name, const Shape& shape) const { return checked(name, shape, true); }

DNDarray StateReader::whole_numbers(const char* name, const Shape& shape) const {
  return checked(name, shape, false).astype(int64);
}

DNDarray StateReader::fields(const char* name, std::int64_t last) const {
  const auto& x = found(name);
  if (x.ndim() < 2 || x.shape().back() != last || !is_floating(x.dtype()))
    raise<ValueError>(op_, "got \"{}\" of {} with shape {} in {}; expected floating numbers of shape (..., {})", name,
                      kind_, to_string(x.shape()), heatpp::name(x.dtype()), last);
  return x;
}

const DNDarray& StateReader::found(const char* name) const {
  const auto found = state_.arrays.find(name);
  if (found == state_.arrays.end()) raise<ValueError>(op_, "got no array \"{}\" of {}; expected one", name, kind_);
  return found->second;
}

DNDarray StateReader::checked(const char* name, const Shape& shape, bool floating) const {
  const auto& x = found(name);
  if (!fits(x.shape(), shape) || !(floating ? is_floating(x.dtype()) : is_whole(x.dtype())))
    raise<ValueError>(op_, "got \"{}\" of {} with shape {} in {}; expected {} numbers of shape {}, -1 being any", name,
                      kind_, to_string(x.shape()), heatpp::name(x.dtype()), floating ? "floating" : "whole",
                      to_string(shape));
  return resplit(x, std::nullopt);
}

const std::string& StateReader::text_of_option(const char* name) const {
  static const std::map<std::string, std::string> before{{"class_weight", "none"}, {"converged", "true"}};
  for (const auto* options : {&state_.options, &before})
    if (const auto found = options->find(name); found != options->end()) return found->second;
  raise<ValueError>(op_, "got no option \"{}\" of {}; expected one", name, kind_);
}

void StateReader::refuse(const char* name, const std::string& text) const {
  raise<ValueError>(
      op_,
      "got \"{}\" for the option \"{}\" of {}; expected a number, true or false, a floating dtype or one of some "
      "names",
      text.substr(0, 60), name, kind_);
}

}  // namespace heatpp::ml::detail
