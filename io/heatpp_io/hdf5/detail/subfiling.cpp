#include <heatpp_io/hdf5/detail/subfiling.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

#include <cstdlib>

namespace heatpp::io {

using heatpp::detail::raise;

bool supports_subfiling() { return true; }

void detail::check_subfiling(const std::string& what, const char* op) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    raise<CommError>(op,
                     "got {}, and MPI with less than MPI_THREAD_MULTIPLE; expected that, since threads of HDF5's move "
                     "the elements by messages (ht::Threads::multiple)",
                     what);
  // HDF5 writes subfiles to other places, but does not find them again.
  for (const auto* name : {H5FD_SUBFILING_SUBFILE_PREFIX, H5FD_SUBFILING_CONFIG_FILE_PREFIX})
    if (std::getenv(name))
      raise<IoError>(op, "got {}, and {} in the environment; expected subfiles beside their file", what, name);
}

detail::Handle detail::subfiling_access(const Communicator& comm, int subfiles) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_mpi_params(access.get(), to_mpi(comm), MPI_INFO_NULL);
  H5FD_subfiling_config_t config{};
  H5Pget_fapl_subfiling(access.get(), &config);
  const Handle concentrators(config.ioc_fapl_id);
  if (subfiles > 0) config.shared_cfg.stripe_count = subfiles;
  if (H5Pset_fapl_subfiling(access.get(), &config) < 0) return {};  // no file can be opened with these
  H5Pset_all_coll_metadata_ops(access.get(), true);
  H5Pset_coll_metadata_write(access.get(), true);
  return access;
}

}  // namespace heatpp::io
