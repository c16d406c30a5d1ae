#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/detail/read.hpp>

namespace heatpp::io::detail {

Handle shared_access(const Communicator& comm) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_mpio(access.get(), to_mpi(comm), MPI_INFO_NULL);
  H5Pset_all_coll_metadata_ops(access.get(), true);
  H5Pset_coll_metadata_write(access.get(), true);
  return access;
}

Handle shared_transfer(bool collective) {
  Handle transfer(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_dxpl_mpio(transfer.get(), collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  return transfer;
}

}  // namespace heatpp::io::detail
