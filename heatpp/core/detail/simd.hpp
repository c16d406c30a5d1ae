#pragma once

// HEATPP_SIMD compiles a function for several instruction sets; the loader picks the machine's. It is off with the
// thread sanitizer, which would instrument the choice although it comes before the sanitizer starts, and if all code is
// compiled for the widest set, of which GCC 12 cannot make the narrower ones. clang 19 does not compile all these
// functions so, and uses the instructions that CMAKE_CXX_FLAGS name.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__AVX512VL__)
#define HEATPP_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HEATPP_SIMD
#endif
