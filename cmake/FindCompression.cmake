# Finds the libraries of compression by their components: zstd, lz4, blosc, bz2, lzma (Debian: libzstd-dev, liblz4-dev, libblosc-dev,
# libbz2-dev, liblzma-dev).
# Result for each: Compression_<component>_FOUND, and the imported target Compression::<component>.

foreach(_component ${Compression_FIND_COMPONENTS})
  string(REPLACE bz2 bzlib _header ${_component}.h)
  find_path(Compression_${_component}_INCLUDE_DIR ${_header})
  find_library(Compression_${_component}_LIBRARY ${_component})
  mark_as_advanced(Compression_${_component}_INCLUDE_DIR Compression_${_component}_LIBRARY)
  if(NOT Compression_${_component}_INCLUDE_DIR OR NOT Compression_${_component}_LIBRARY)
    continue()
  endif()
  set(Compression_${_component}_FOUND TRUE)
  if(NOT TARGET Compression::${_component})
    add_library(Compression::${_component} UNKNOWN IMPORTED)
    set_target_properties(Compression::${_component} PROPERTIES IMPORTED_LOCATION ${Compression_${_component}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${Compression_${_component}_INCLUDE_DIR})
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Compression HANDLE_COMPONENTS)
