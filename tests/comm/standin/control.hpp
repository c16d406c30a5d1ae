#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

/// What tests ask of the stand-in for CUDA and NCCL, and how they make it fail.
extern "C" {

/// Whether this process has a context on the device.
int standin_has_context(int device);
/// The device whose context is current to this thread; -1 where none is.
int standin_current();
/// Calls of ncclGroupStart on this thread that no ncclGroupEnd followed.
int standin_open_groups();
/// Communicators of NCCL's that were neither destroyed nor aborted.
int standin_communicators();
/// The latest call that the libraries forbid, or leave undefined, since this was last asked; "" if there was none.
const char* standin_misuse();
/// Puts a kernel into a stream, which is called until it returns other than 0.
void standin_put(cudaStream_t stream, int (*kernel)(void*), void* argument);

/// What this rank's calls of NCCL return, or report later.
struct StandinFailures {
  ncclResult_t unique_id;  ///< ncclGetUniqueId
  ncclResult_t init;       ///< making a communicator, once it has begun; the other ranks then wait for this one
  ncclResult_t async;      ///< ncclCommGetAsyncError of communicators that are made
  ncclResult_t call;       ///< a collective ...
  int calls_before;        ///< ... after so many that work
};
extern StandinFailures standin_failures;
}
