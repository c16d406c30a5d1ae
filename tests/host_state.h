/* What a host has set, as a text: threads of OpenMP and MKL, floating-point mode, handlers of signals and of MPI's errors,
 * locale, state of random(). For C and C++; included first. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { host_state_length = 512 };

static unsigned long host_state_hash(unsigned long hash, const void* bytes, size_t count) {
  const unsigned char* at = (const unsigned char*)bytes;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ at[i]) * 1099511628211UL;
  return hash;
}

/* Returns the result of a library's function without arguments; -1: there is no such function. */
static int host_state_number(const char* function) {
  int (*get)(void);
  void* const found = dlsym(RTLD_DEFAULT, function);
  memcpy(&get, &found, sizeof get);
  return found ? get() : -1;
}

static unsigned long host_state_signals(void) {
  unsigned long hash = 0;
  for (int i = 1; i < 64; ++i) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    if (sigaction(i, NULL, &action) != 0) continue;
    hash = host_state_hash(hash, &action.sa_handler, sizeof action.sa_handler);
    /* without a flag that the C library sets when a handler is restored */
    const int flags = action.sa_flags & (SA_SIGINFO | SA_RESTART | SA_NODEFER | (int)SA_RESETHAND | SA_ONSTACK);
    hash = host_state_hash(hash, &flags, sizeof flags);
  }
  return hash;
}

static unsigned long host_state_random(void) {
  enum { bytes = 128 }; /* of the state at the start of a program */
  char other[bytes];
  char* const mine = initstate(1, other, sizeof other);
  const unsigned long hash = host_state_hash(0, mine, bytes);
  setstate(mine);
  return hash;
}

static unsigned long host_state_mpi(void) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun), MPI_Finalized(&ended);
  if (!begun || ended) return 0;
  MPI_Errhandler handlers[3];
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handlers[0]);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &handlers[1]);
  MPI_File_get_errhandler(MPI_FILE_NULL, &handlers[2]);
  const unsigned long hash = host_state_hash(0, handlers, sizeof handlers);
  for (int i = 0; i < 3; ++i) MPI_Errhandler_free(&handlers[i]);
  return hash;
}

static unsigned host_state_vector_mode(void) {
#ifdef __SSE__
  return __builtin_ia32_stmxcsr() & 0xffc0U; /* without the flags of past exceptions */
#else
  return 0;
#endif
}

static void host_state_of(char text[host_state_length]) {
  snprintf(text, host_state_length,
           "OpenMP %d, MKL %d, rounding %d, traps %d, vector mode %x, signals %lx, random %lx, MPI %lx, locale %s",
           host_state_number("omp_get_max_threads"), host_state_number("mkl_get_max_threads"), fegetround(), fegetexcept(),
           host_state_vector_mode(), host_state_signals(), host_state_random(), host_state_mpi(),
           setlocale(LC_ALL, NULL));
}
