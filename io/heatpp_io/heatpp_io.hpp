#pragma once

#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/csv/save_csv.hpp>
#include <heatpp_io/formats.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/rows.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_io/io_report.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/numpy/load_npy.hpp>
#include <heatpp_io/numpy/npz.hpp>
#include <heatpp_io/numpy/save_npy.hpp>
#include <heatpp_io/safetensors/model.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_io/zarr/zarr.hpp>
