#include <heatpp/core/detail/alike.hpp>
#include <heatpp_c/detail/handles.hpp>
#include <heatpp_io/formats.hpp>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::detail::check_agreed;
using heatpp::detail::Setting;

int ht_load(const ht_comm* comm, const char* path, const char* dataset, int split, ht_array** x) {
  constexpr auto op = "ht_load";
  return status_of([&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    const std::vector<Setting> alike{
        {"path", quoted(path)}, {"dataset", quoted(dataset)}, {"split", std::to_string(split)}};
    check_agreed(op, ranks, alike, [&] {
      check_given(op, "path", path);
      check_given(op, "x", x);
    });
    // Digits of text are kept: a host has no default dtype to choose.
    const auto dtype = std::string_view(path).ends_with(".csv") ? std::optional(heatpp::float64) : std::nullopt;
    *x = new ht_array{heatpp::io::load(
        path, {.dataset = text(dataset), .split = split_of(op, split), .dtype = dtype, .comm = ranks})};
  });
}

int ht_save(const ht_array* x, const char* path, const char* dataset) {
  constexpr auto op = "ht_save";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    check_agreed(op, value.comm(), {{"path", quoted(path)}, {"dataset", quoted(dataset)}},
                 [&] { check_given(op, "path", path); });
    heatpp::io::save(value, path, {.dataset = text(dataset)});
  });
}
