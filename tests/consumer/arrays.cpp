// Links heatpp::core and nothing else.
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/interop/mpi.hpp>

int main(int argc, char** argv) {
  heatpp::Environment env(argc, argv);
  const auto comm = heatpp::from_mpi(MPI_COMM_SELF);
  return heatpp::arange(10, {.split = 0}).shape() == heatpp::Shape{10} && comm.size() == 1 ? 0 : 1;
}
