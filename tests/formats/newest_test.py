"""Checks that heatpp reads files of today's versions of the programs that write them, and that these read its copies:
newest_test.py PYTHON MPIEXEC FLAG TEST TEST_OF_SPARSE. PYTHON has newest_requirements.txt. Exits with 77, which ctest shows as
skipped, if there is no such Python."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

python, mpiexec, flag, *tests = sys.argv[1:]
writers = pathlib.Path(__file__).with_name("newest_writers.py")
if shutil.which(python) is None:
    print(f"skipped: no {python}; scripts/setup makes it where there is Python 3.12 or later")
    sys.exit(77)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([python, writers, "write", name], check=True)
    for ranks in "1", "3":
        shutil.rmtree(folder / "out", ignore_errors=True)
        (folder / "out").mkdir()
        for test in tests:
            subprocess.run([mpiexec, flag, ranks, test, "[.newest]"], check=True, env=os.environ | {"HEATPP_NEWEST_FILES": name})
        subprocess.run([python, writers, "check", name], check=True)
