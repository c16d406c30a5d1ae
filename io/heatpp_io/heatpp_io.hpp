#pragma once

#include <heatpp_io/formats.hpp>
#include <heatpp_io/io_report.hpp>
#include <heatpp_io/load_csv.hpp>
#include <heatpp_io/load_hdf5.hpp>
#include <heatpp_io/load_npy.hpp>
#include <heatpp_io/netcdf.hpp>
#include <heatpp_io/npz.hpp>
#include <heatpp_io/safetensors.hpp>
#include <heatpp_io/save_csv.hpp>
#include <heatpp_io/save_hdf5.hpp>
#include <heatpp_io/save_npy.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_io/stored_rows.hpp>
#include <heatpp_io/zarr.hpp>
