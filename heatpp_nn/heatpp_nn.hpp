#pragma once

#include <heatpp_nn/checkpoint.hpp>
#include <heatpp_nn/daso.hpp>
#include <heatpp_nn/data_loader.hpp>
#include <heatpp_nn/data_parallel.hpp>
#include <heatpp_nn/learning_rate.hpp>
#include <heatpp_nn/loss_plot.hpp>
#include <heatpp_nn/merge.hpp>
#include <heatpp_nn/metrics.hpp>
#include <heatpp_nn/plateau.hpp>
#include <heatpp_nn/progress_bar.hpp>
#include <heatpp_nn/replica.hpp>
#include <heatpp_nn/sampler.hpp>
#include <heatpp_nn/schedule.hpp>
#include <heatpp_nn/tensorboard.hpp>
