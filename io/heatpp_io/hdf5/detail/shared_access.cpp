#include <heatpp_io/hdf5/detail/shared_access.hpp>

#include <heatpp/interop/mpi.hpp>

namespace heatpp::io::detail {

Handle shared_access(const Communicator& comm) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_mpio(access.get(), to_mpi(comm), MPI_INFO_NULL);
  H5Pset_all_coll_metadata_ops(access.get(), true);
  H5Pset_coll_metadata_write(access.get(), true);
  return access;
}

Handle shared_transfer(MpiIo how) {
  Handle transfer(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_dxpl_mpio(transfer.get(), how == MpiIo::independent ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
  if (how == MpiIo::own_runs) H5Pset_dxpl_mpio_collective_opt(transfer.get(), H5FD_MPIO_INDIVIDUAL_IO);
  return transfer;
}

}  // namespace heatpp::io::detail
