#include "../catch.hpp"

#include <heatpp/core/detail/fields.hpp>

#include <array>

namespace ht = heatpp;

namespace {

enum class Kind { plain, fancy };
struct Inner {
  double alpha = 0.5;
  std::optional<int> most = std::nullopt;
};
struct Options {
  std::string dataset = {};
  std::int64_t count = 3;
  bool append = false;
  Kind kind = Kind::plain;
  Inner inner = {};
  std::optional<Inner> more = std::nullopt;
  std::vector<std::string> names = {};
  std::function<void()> progress = {};
};
struct Fewer {
  bool append = false;
  double count = 0;  // of another type
};

}  // namespace

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<Kind> = {"plain", "fancy"};
template <>
inline constexpr std::tuple fields_of<Inner> = {Field{"alpha", &Inner::alpha}, Field{"most", &Inner::most}};
template <>
inline constexpr std::tuple fields_of<Options> = {
    Field{"dataset", &Options::dataset}, Field{"count", &Options::count},          Field{"append", &Options::append},
    Field{"kind", &Options::kind},       Field{"inner", &Options::inner},          Field{"more", &Options::more},
    Field{"names", &Options::names},     own_field("progress", &Options::progress)};
template <>
inline constexpr std::tuple fields_of<Fewer> = {Field{"append", &Fewer::append}, Field{"count", &Fewer::count}};

}  // namespace heatpp::detail

namespace {

std::string text_of(const Options& options) {
  std::string text;
  for (const auto& [name, value] : ht::detail::settings_of(options))
    text += (text.empty() ? "" : "; ") + name + " " + value;
  return text;
}

}  // namespace

TEST_CASE("Options are compared by the names and values of their fields", "[core][fields]") {
  CHECK(text_of({}) ==
        "dataset \"\"; count 3; append false; kind plain; inner.alpha 0.5; inner.most none; "
        "more none; more.alpha 0.5; more.most none; names []");
  CHECK(text_of({.dataset = "a",
                 .kind = Kind::fancy,
                 .inner = {.most = 2},
                 .more = Inner{.alpha = 1},
                 .names = {"x", "y\"z"},
                 .progress = [] {}}) ==
        "dataset \"a\"; count 3; append false; kind fancy; inner.alpha 0.5; inner.most 2; "
        "more some; more.alpha 1; more.most none; names [\"x\", \"y\"\"z\"]");
}

TEST_CASE("Given options are those that differ from the defaults", "[core][fields]") {
  CHECK(ht::detail::fields_given(Options{}).empty());
  CHECK(ht::detail::fields_given(Options{.count = 4, .inner = {.alpha = 2}}) ==
        std::vector<std::string>{"count", "inner"});
}

TEST_CASE("Fields of equal name and type are copied", "[core][fields]") {
  Fewer to{.count = 7};
  ht::detail::copy_fields(Options{.count = 5, .append = true}, to);
  CHECK(to.append);
  CHECK(to.count == 7);
}
