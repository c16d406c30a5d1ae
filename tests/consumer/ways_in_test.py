"""Checks that the lines of the READMEs work if a user copies them.

ways_in_test.py PREFIX MPIEXEC                         a project of `heatpp new`, by the lines of its own README
ways_in_test.py PREFIX MPIEXEC README PYTHON CONVERT   those in README: a program, Python and a shell

heatpp is installed in PREFIX, and its Python module, if there is one, in PREFIX/python. PYTHON is the interpreter of the module. CONVERT
makes the data that all programs read."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PREFIX, MPIEXEC = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
README, PYTHON, CONVERT = map(pathlib.Path, sys.argv[3:]) if len(sys.argv) > 3 else (None, None, None)


def blocks_of(text):
    """Returns the code blocks of a README in order, as pairs of language and lines."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)


def block(language, having=""):
    return next(text for kind, text in blocks_of(README.read_text()) if kind == language and having in text)


def run(lines, folder, code=0):
    """Returns the output of a shell for lines of a README, in which <where> is the installation."""
    # Called by its full path, Open MPI's mpirun puts its own folder first in the PATH of the ranks.
    lines = lines.replace("<where>", str(PREFIX)).replace("mpirun", MPIEXEC.name)
    paths = [PREFIX / "bin", *([PYTHON.parent] if PYTHON else []), MPIEXEC.parent, os.environ["PATH"]]
    done = subprocess.run(["bash", "-ec", lines], cwd=folder, capture_output=True, text=True, timeout=240,
                          env=os.environ | {"PATH": ":".join(map(str, paths))})
    assert done.returncode == code, f"{lines}: got code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def expect(printed, expected, of):
    assert printed == expected, f"{of}: got\n{printed}; expected\n{expected}"


def check_cpp(folder):
    (folder / "quickstart.cpp").write_text(block("cpp"))
    (folder / "CMakeLists.txt").write_text(block("cmake"))
    printed = run(block("sh", "cmake -B build"), folder)
    expect(printed[printed.index("DNDarray"):], block("", "DNDarray"), "C++")
    print("the README's program is built and prints what it says")


def check_python(folder):
    if not (PREFIX / "python/heatpp").is_dir():
        print("no module for Python is installed: its lines are left out")
        return
    (folder / "quickstart.py").write_text(block("python"))
    expect(run(block("sh", "python3"), folder), block("", "DNDarray"), "Python")
    print("the README's lines of Python print the same")


def check_shell(folder):
    text = block("console")
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.M):
        printed = run(command, folder).splitlines()
        shown = [line for line in expected.splitlines() if line.strip() != "..."]
        missing = [line for line in shown if line not in printed]
        assert not missing, f"{command}: got\n" + "\n".join(printed) + "; expected, too\n" + "\n".join(missing)
        print(f"$ {command}")
    assert (folder / "images.svg").exists() and (folder / "images.zarr").is_dir()


def check_new(folder):
    run("heatpp new waves", folder)
    project = folder / "waves"
    assert sorted(path.name for path in project.iterdir()) == ["CMakeLists.txt", "README.md", "main.cpp"]
    assert len((project / "main.cpp").read_text().splitlines()) <= 12
    lines = re.findall(r"^    (.*)$", (project / "README.md").read_text(), flags=re.M)
    assert len(lines) == 4 and str(PREFIX) in lines[0], lines
    run("\n".join(lines[:2]), project)
    one, four = (run(line, project) for line in lines[2:])
    assert one.startswith("DNDarray(["), one
    expect(four, one, "4 ranks of the new project")
    assert "float32" in run("heatpp describe waves.h5", project)
    before = (project / "main.cpp").read_text()
    message = run("heatpp new waves", folder, code=1)
    assert '[new] got "waves", which exists; expected the name of a new folder' in message, message
    assert (project / "main.cpp").read_text() == before
    for wrong in ("2waves", "wa.ves", "test"):
        assert "expected a name of letters" in run(f"heatpp new {wrong}", folder, code=1) and not (folder / wrong).exists()
    print("heatpp new makes a project that prints the same on 1 and 4 ranks")


with tempfile.TemporaryDirectory() as root:
    work = pathlib.Path(root)
    if README:
        subprocess.run([CONVERT, "--to", work / "data", "--shards", "8"], check=True, stdout=subprocess.DEVNULL)
    for check in (check_cpp, check_python, check_shell) if README else (check_new,):
        check(work)
