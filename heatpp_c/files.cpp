#include <heatpp_c/detail/handles.hpp>
#include <heatpp_io/formats.hpp>

using namespace heatpp::c;  // NOLINT: what the functions below are made of

int ht_load(const ht_comm* comm, const char* path, const char* dataset, int split, ht_array** x) {
  return made("ht_load", x, [&] {
    return heatpp::io::load(
        &given("ht_load", "path", path),
        {.dataset = text(dataset), .split = split_of("ht_load", split), .comm = given("ht_load", "comm", comm).ranks});
  });
}

int ht_save(const ht_array* x, const char* path, const char* dataset) {
  return status_of([&] {
    heatpp::io::save(given("ht_save", "x", x).value, &given("ht_save", "path", path), {.dataset = text(dataset)});
  });
}
