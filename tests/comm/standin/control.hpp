#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

/// The interface by which tests control the stand-in for CUDA and NCCL, and make it fail.
extern "C" {

/// Whether this process has a context on the device.
int standin_has_context(int device);
/// Returns the device whose context is current to this thread; -1 if there is none.
int standin_current();
/// Returns the calls of ncclGroupStart on this thread without ncclGroupEnd.
int standin_open_groups();
/// Returns how many NCCL communicators were neither destroyed nor aborted.
int standin_communicators();
/// Returns the latest forbidden or undefined call since the last query; "" if there was none.
const char* standin_misuse();
/// Puts a kernel into a stream; it is called until it returns a value other than 0.
void standin_put(cudaStream_t stream, int (*kernel)(void*), void* argument);

/// Results of this rank's calls of NCCL, at once or later.
struct StandinFailures {
  ncclResult_t unique_id;  ///< ncclGetUniqueId
  ncclResult_t init;       ///< making a communicator, after it has begun; the other ranks then wait for this one
  ncclResult_t async;      ///< ncclCommGetAsyncError of communicators that are made
  ncclResult_t call;       ///< a collective ...
  int calls_before;        ///< ... after this many that work
};
extern StandinFailures standin_failures;
}
