#!/usr/bin/env bash
# A program that links LibTorch 2.15's wheel and a library written in Fortran, such as PETSc, does not link.
#
# The wheel for x86-64 holds a libgfortran.so.5 of GCC 8, which no library of the wheel needs; that of 2.11 holds none. A
# program needs the wheel's folder in its run path (-rpath) to find libtorch_cpu.so. The linker searches the same folders
# for what other shared libraries need, before the system's, and finds the old libgfortran there. It has the soname of the
# system's, but not the symbols of GCC 10 and later, so the link of any program with both libraries ends with an undefined
# reference. -rpath-link with the system's folder is searched earlier and is the way out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --no-warn-conflicts --no-deps torch==2.15.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
wheel=$PWD/$(echo venv/lib/python3*/site-packages/torch/lib)
system=$(dirname "$(gcc -print-file-name=libgfortran.so.5)")
[[ $system != . ]] || system=$(dirname "$(ldconfig -p | awk '/libgfortran.so.5 .*x86-64/ {print $NF; exit}')")

cat >sums.f90 <<'F90'
subroutine sums(n, total) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double), intent(out) :: total
  real(c_double), allocatable :: x(:)
  allocate(x(n))
  x = 1
  total = sum(x)
end subroutine
F90
cat >main.cpp <<'CPP'
#include <cstdio>
extern "C" void sums(int, double*);
int main() {
  double total = 0;
  sums(8, &total);
  std::printf("sum %g\n", total);
}
CPP
gfortran -shared -fPIC sums.f90 -o libsums.so
users=0
for library in "$wheel"/*.so*; do
  ! readelf -d "$library" 2>/dev/null | grep -q 'NEEDED.*libgfortran' || users=$((users + 1))
done
newest() { readelf -V "$1" | grep -oE '\bGFORTRAN_[0-9.]+' | sort -Vu | tail -1; }
echo "g++ $(gcc -dumpfullversion), $(ld --version | head -1), LibTorch 2.15.0"
echo "libraries of the wheel that need libgfortran: $users"
echo "newest symbols: the wheel's $(newest "$wheel/libgfortran.so.5"), the system's $(newest "$system/libgfortran.so.5")"
link=(g++ main.cpp -o main -L. -lsums "$wheel/libtorch_cpu.so" "$wheel/libc10.so" -Wl,-rpath,"$wheel:$PWD")
without=0
"${link[@]}" 2>errors || without=$?
grep -o -m1 'undefined reference.*' errors || true
"${link[@]}" -Wl,-rpath-link,"$system"
./main
[[ $users == 0 && $without != 0 ]] && grep -q 'undefined reference.*GFORTRAN_' errors
# Seen: g++ 12.2.0, GNU ld (GNU Binutils for Debian) 2.40, LibTorch 2.15.0
#       libraries of the wheel that need libgfortran: 0
#       newest symbols: the wheel's GFORTRAN_8, the system's GFORTRAN_12
#       undefined reference to `_gfortran_os_error_at@GFORTRAN_10'
#       sum 8
