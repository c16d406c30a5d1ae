#include "newest.hpp"

#include <heatpp/core/promotion.hpp>

namespace {

using Catch::Contains;

void check_error(const NewestArray& x) {
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)}) {
    const auto load = [&] { return ht::io::load(x.file, {.dataset = x.array, .split = split, .field = x.field}); };
    CHECK_THAT(same_message<ht::Error>(load), Contains(x.error) && Contains("; expected "));
  }
}

/// Attributes may decode the numbers to any dtype that represents them. Other numbers have the dtype of the file.
void check_values(const NewestArray& x) {
  const auto expected = ht::io::load_npy(newest_path(x.name + ".npy"));
  const auto dtype = x.kind == "stored" ? std::nullopt : std::optional(expected.dtype());
  for (const auto& split : every_split(expected.shape()))
    CHECK(same(ht::io::load(x.file, {.dataset = x.array, .split = split, .dtype = dtype, .field = x.field}),
               expected.larray()));
}

/// Writes copies, which newest_writers.py reads. netCDF has neither float16 nor complex numbers.
void copy(const NewestArray& x) {
  const auto array = x.field.empty() ? x.array : x.array + "/" + x.field;
  const ht::io::StoredArray stored(x.file, {.dataset = array});
  const bool short_or_complex = stored.dtype() == ht::float16 || ht::is_complex(stored.dtype());
  for (const std::string to : {"h5", "nc", "zarr", "v3.zarr"}) {
    if (to == "nc" && (short_or_complex || !ht::io::supports_netcdf())) continue;
    ht::io::ConvertOptions options;
    options.save.dataset = "data";
    if (to == "v3.zarr") options.save.zarr_format = 3;
    ht::io::convert(stored, newest_path("out/" + x.name + ".copy." + to), options);
  }
}

}  // namespace

TEST_CASE("arrays of today's writers are read and copied, or refused with the way out", "[.newest]") {
  const auto all = newest_arrays(/*sparse=*/false);
  CHECK(all.size() > 80);
  for (const auto& x : all) {
    CAPTURE(x.file, x.array, x.field);
    if (!x.error.empty()) {
      check_error(x);
      continue;
    }
    CHECK_NOTHROW(check_values(x));
    if (x.kind != "narrow") CHECK_NOTHROW(copy(x));
  }
}
