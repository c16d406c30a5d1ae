#include "../../support.hpp"

#include <heatpp_io/heatpp_io.hpp>

TEST_CASE("without netCDF its functions say so", "[io][netcdf]") {
  CHECK_FALSE(ht::io::supports_netcdf());
  CHECK_THROWS_AS(ht::io::load_netcdf("a.nc", "x"), ht::NotCompiled);
  CHECK_THROWS_AS(ht::io::save_netcdf(ht::zeros({2}), "a.nc", "x"), ht::NotCompiled);
}
