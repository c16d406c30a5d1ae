#include <heatpp/core/detail/host/threads.hpp>

#include <ATen/Parallel.h>

#include <dlfcn.h>

namespace heatpp::detail {
namespace {

/// Returns a function of the OpenMP that LibTorch uses, perhaps not the compiler's; NULL if there is none.
void* function_of_openmp(const char* name) {
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  Dl_info torch{};  // if Python has loaded LibTorch, no other library sees its libraries
  if (!::dladdr(reinterpret_cast<void*>(&at::get_num_threads), &torch)) return nullptr;
  void* const library = ::dlopen(torch.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library ? ::dlsym(library, name) : nullptr;
}

int threads_of_openmp() {
  static const auto get = reinterpret_cast<int (*)()>(function_of_openmp("omp_get_max_threads"));
  return get ? get() : 0;
}

void set_threads_of_openmp(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(function_of_openmp("omp_set_num_threads"));
  if (set && threads > 0) set(threads);
}

bool begin_threads() {
  const int threads = threads_of_openmp();
  at::internal::lazy_init_num_threads();     // for loops in this program
  static_cast<void>(at::get_num_threads());  // for loops in LibTorch
  set_threads_of_openmp(threads);
  return true;
}

}  // namespace

void take_host_threads() { [[maybe_unused]] thread_local const bool begun = begin_threads(); }

ThreadsInScope::ThreadsInScope(int threads) {
  take_host_threads();
  if (threads == 0) return;
  before_ = threads_of_openmp();
  set_threads_of_openmp(threads);
}
ThreadsInScope::~ThreadsInScope() { set_threads_of_openmp(before_); }

}  // namespace heatpp::detail
