// Links heatpp::core and nothing else.
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/version.hpp>

static_assert(HEATPP_VERSION_MAJOR == 0 && HEATPP_VERSION_MINOR >= 1);

int main(int argc, char** argv) {
  heatpp::Environment env(argc, argv);
  const auto x = heatpp::arange(10, {.split = 0});
  const MPI_Comm comm = heatpp::to_mpi(x.comm());  // MPI's header is there, its library not linked
  return x.shape() == heatpp::Shape{10} && comm == heatpp::to_mpi(heatpp::world()) ? 0 : 1;
}
