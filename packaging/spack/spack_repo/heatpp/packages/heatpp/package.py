import pathlib
import re

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension

from spack.package import *


class Heatpp(CMakePackage, CudaPackage, PythonExtension):
    """Distributed arrays, analytics and training for C++ scientific codes: NumPy's functions on
    arrays that are split over MPI ranks, sparse matrices, estimators, parallel files, and networks
    trained by LibTorch with DASO. HDF5 files and training are in every build."""

    # No home page and no archive of releases has been published, and no licence has been chosen:
    # the sources are those that this recipe lies in, a clone of them with its branch main.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    version("main", branch="main")

    variant("shared", default=False, description="Build shared libraries instead of static ones")
    variant("tools", default=True, description="Build the program heatpp")
    variant("netcdf", default=True, description="Read and write netCDF files")
    variant("petsc", default=False, description="Solve with PETSc in the memory of arrays")
    variant("zstd", default=True, description="Compress by zstd beside gzip")
    variant("lz4", default=True, description="Compress by lz4 beside gzip")
    variant("blosc", default=True, description="Compress by blosc beside gzip")
    variant("bz2", default=True, description="Read Zarr's chunks of bz2")
    variant("lzma", default=True, description="Read Zarr's chunks of lzma")
    variant("libdeflate", default=True, description="Inflate gzip by libdeflate, which is faster")
    variant("python", default=False, description="Build the Python module")
    variant("nccl", default=True, when="+cuda", description="All-reduces of devices by NCCL")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.10:", type=("build", "run"))  # of heatpp-train

    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("hdf5@1.10.8:+mpi")
    depends_on("fmt@9:")
    depends_on("highway@1.0.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("xtensor@0.24:0.25")  # headers have other paths since 0.26
    depends_on("zlib-api")
    depends_on("py-torch@2.11", type=("build", "link", "run"))

    depends_on("cli11@2.1:", when="+tools", type="build")
    depends_on("netcdf-c@4.9:+mpi", when="+netcdf")
    depends_on("petsc@3.17:+mpi", when="+petsc")
    depends_on("zstd", when="+zstd")
    depends_on("lz4", when="+lz4")
    depends_on("c-blosc", when="+blosc")
    depends_on("bzip2", when="+bz2")
    depends_on("xz", when="+lzma")
    depends_on("libdeflate", when="+libdeflate")

    with when("+python"):
        extends("python@3.9:")
        depends_on("py-nanobind@3.1:", type="build")  # newer than Spack's own recipe knows
        depends_on("py-numpy", type=("build", "run"))

    with when("+cuda"):
        depends_on("py-torch+cuda")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"py-torch cuda_arch={arch}", when=f"cuda_arch={arch}")
    depends_on("nccl", when="+nccl")

    conflicts("%gcc@:11", msg="heatpp is C++20 as g++ 12 has it")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("HEATPP_TOOLS", "tools"),
            self.define_from_variant("HEATPP_PYTHON", "python"),
            self.define_from_variant("HEATPP_CUDA", "cuda"),
            self.define("HEATPP_TESTS", False),
            self.define("HEATPP_EXAMPLES", False),
            self.define("HEATPP_BENCHMARKS", False),
            self.define("HEATPP_VENV", ""),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            # Around Spack's compilers ccache does not see the options that they add.
            self.define("CCACHE", ""),
            # Hosts compile the module that is installed as a source.
            self.define("CMAKE_Fortran_COMPILER", ""),
        ]
        # What is not asked for is not taken from the system: what is empty is not looked for.
        for variant, module in (
            ("netcdf", "NetCDFMpi"),
            ("petsc", "PETSc"),
            ("libdeflate", "Libdeflate"),
        ):
            off = spec.satisfies(f"~{variant}")
            args.append(self.define(f"CMAKE_DISABLE_FIND_PACKAGE_{module}", off))
        for codec in ("zstd", "lz4", "blosc", "bz2", "lzma"):
            if spec.satisfies(f"~{codec}"):
                args.append(self.define(f"Compression_{codec}_LIBRARY", ""))
        for library in ("cuda", "nccl"):
            headers = spec[library].prefix.include if spec.satisfies(f"+{library}") else ""
            args.append(self.define(f"HEATPP_{library.upper()}_INCLUDE_DIR", headers))
        if spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", spec["python"].command.path))
        return args

    @run_after("install")
    def link_libtorch(self):
        """So that programs which are built against heatpp find the LibTorch that it was built with."""
        cache = pathlib.Path(self.build_directory, "CMakeCache.txt").read_text()
        library = re.search(r"^LibTorch_CPU_LIBRARY:FILEPATH=(.+)$", cache, re.M).group(1)
        mkdirp(self.prefix.lib.heatpp)
        symlink(pathlib.Path(library).parents[1], self.prefix.lib.heatpp.libtorch)

    @run_after("install")
    def install_python(self):
        if self.spec.satisfies("+python"):
            with working_dir(self.build_directory):
                cmake("--install", ".", "--component", "python", "--prefix", python_platlib)

    def test_info(self):
        """tell what the installed program was built with"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("heatpp was built without its program")
        told = Executable(self.prefix.bin.heatpp)("info", output=str.split, error=str.split)
        assert "heatpp" in told
