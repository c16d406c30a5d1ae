// Domains cut along two axes: to an array and back.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp_io/heatpp_io.hpp>

#include <hdf5.h>
#include <mpi.h>

namespace bench {
namespace {

constexpr std::int64_t side = 512;

/// A brick of 512^3 cells, cut along its last two axes among the ranks, and its elements between ghost cells.
struct Domain {
  ht::Brick brick;
  std::int64_t ghosts;
  std::vector<float> memory;
};

std::vector<double> check(const ht::DNDarray& x) { return check_sums(ht::reshape(x, {side * side, side})); }

std::shared_ptr<Domain> domain(std::int64_t ghosts = 0) {
  const auto& world = ht::world();
  std::array<int, 2> parts{};
  MPI_Dims_create(world.size(), 2, parts.data());
  const std::array<std::int64_t, 2> place{world.rank() / parts[1], world.rank() % parts[1]};
  Domain made{{{0, 0, 0}, {side, 0, 0}}, ghosts, {}};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    made.brick.offset[axis + 1] = side * place[axis] / parts[axis];
    made.brick.shape[axis + 1] = side * (place[axis] + 1) / parts[axis] - made.brick.offset[axis + 1];
  }
  auto extents = made.brick.shape;
  for (auto& extent : extents) extent += 2 * ghosts;
  made.memory.resize(static_cast<std::size_t>(ht::size_of(extents)));
  const auto x = ht::reshape(generate<normal>(72, {side * side, side}), {side, side, side});
  ht::to_blocks(x, made.memory.data(), extents, made.brick.offset, {.ghosts = {ghosts}});
  return std::make_shared<Domain>(std::move(made));
}

ht::BlockPlan plan_of(const Domain& domain) {
  return {{side, side, side}, {domain.brick}, ht::float32, {.ghosts = {domain.ghosts}}};
}

Prepared from_bricks() {
  const auto given = domain();
  const auto plan = plan_of(*given);
  return timed([=] { return plan.from_blocks(given->memory.data()); }, check);
}

Prepared to_bricks() {
  const auto given = domain();
  const auto plan = plan_of(*given);
  return timed(
      [=, x = plan.from_blocks(given->memory.data())] {
        plan.to_blocks(x, given->memory.data());
        return x;
      },
      check);
}

/// Returns types of the parts of a box of this shape that have `count` cells and begin at `first`, one for each rank.
MPI_Datatype part(const std::array<int, 3>& shape, const std::array<int, 3>& first, const std::array<int, 3>& count) {
  MPI_Datatype type = MPI_FLOAT;
  if (count[0] > 0)
    MPI_Type_create_subarray(3, shape.data(), count.data(), first.data(), MPI_ORDER_C, MPI_FLOAT, &type);
  if (count[0] > 0) MPI_Type_commit(&type);
  return type;
}

/// Measures MPI itself with these pieces.
template <bool back>
Prepared alltoallw() {
  const auto given = domain();
  const auto ranks = ht::world().size();
  const ht::Layout rows({side, side, side}, 0, ranks);
  const auto number = [](auto n) { return static_cast<int>(n); };
  const auto bricks = ht::world().allgather(given->brick.offset[1]),
             widths = ht::world().allgather(given->brick.shape[1]);
  const auto columns = ht::world().allgather(given->brick.offset[2]),
             depths = ht::world().allgather(given->brick.shape[2]);
  std::vector<MPI_Datatype> of_brick, of_rows;
  const auto mine = number(rows.count(ht::world().rank()));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto width = number(given->brick.shape[1]), depth = number(given->brick.shape[2]);
    of_brick.push_back(part({number(side), width, depth}, {number(rows.offset(rank)), 0, 0},
                            {number(rows.count(rank)), width, depth}));
    of_rows.push_back(part({mine, number(side), number(side)}, {0, number(bricks[r]), number(columns[r])},
                           {mine, number(widths[r]), number(depths[r])}));
  }
  const std::vector<int> ones(static_cast<std::size_t>(ranks), 1), zeros(static_cast<std::size_t>(ranks), 0);
  const auto exchange = [=](const void* from, const auto& sent, void* to, const auto& received) {
    MPI_Alltoallw(from, ones.data(), zeros.data(), sent.data(), to, ones.data(), zeros.data(), received.data(),
                  MPI_COMM_WORLD);
  };
  const auto fresh = [=] { return ht::empty({side, side, side}, {.dtype = ht::float32, .split = 0}); };
  return timed(
      [=, x = plan_of(*given).from_blocks(given->memory.data())] {
        auto y = back ? x : fresh();
        if (back) exchange(x.local<float>().data(), of_rows, given->memory.data(), of_brick);
        else exchange(given->memory.data(), of_brick, y.template local<float>().data(), of_rows);
        return y;
      },
      check);
}

/// Mean, standard deviation, histogram and maximum of an array.
struct Statistics {
  ht::DNDarray mean, std, counts, max;
};
Statistics statistics_of(const ht::DNDarray& x) {
  return {ht::mean(x), ht::std(x), ht::histogram(x, 64).first, ht::max(x)};
}
/// Checks them by the mean bin, since rounded edges may move single elements.
std::vector<double> check_statistics(const Statistics& of) {
  const auto bins = ht::mean(of.counts * ht::arange(64)) / ht::mean(of.counts);
  return check_values({of.mean, of.std, bins, of.max});
}

/// In the memory of the host, which keeps its bricks.
template <std::int64_t ghosts>
Prepared statistics_in_place() {
  const auto given = domain(ghosts);
  return timed([given, x = ht::adopt_blocks(given->memory.data(), plan_of(*given))] { return statistics_of(x); },
               check_statistics);
}

Prepared statistics_of_slabs() {
  const auto given = domain();
  return timed([x = plan_of(*given).from_blocks(given->memory.data())] { return statistics_of(x); }, check_statistics);
}

std::vector<double> check_file(const std::string& path) { return check(ht::io::load(path, {.split = 0})); }

/// A file of the domain that all ranks have open, and this rank's brick of it.
class BrickFile {
 public:
  BrickFile(const std::string& path, const ht::Brick& brick, bool fresh)
      : access_(H5Pcreate(H5P_FILE_ACCESS)), transfer_(H5Pcreate(H5P_DATASET_XFER)) {
    H5Pset_fapl_mpio(access_, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE);
    const std::array<hsize_t, 3> whole{side, side, side};
    std::array<hsize_t, 3> first{}, count{};
    std::ranges::copy(brick.offset, first.begin());
    std::ranges::copy(brick.shape, count.begin());
    space_ = H5Screate_simple(3, whole.data(), nullptr);
    memory_ = H5Screate_simple(3, count.data(), nullptr);
    const auto create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
    file_ = fresh ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_)
                  : H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_);
    set_ = fresh ? H5Dcreate2(file_, "data", H5T_NATIVE_FLOAT, space_, H5P_DEFAULT, create, H5P_DEFAULT)
                 : H5Dopen2(file_, "data", H5P_DEFAULT);
    H5Pclose(create);
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
  }
  ~BrickFile() {
    H5Dclose(set_), H5Fclose(file_), H5Sclose(memory_), H5Sclose(space_), H5Pclose(transfer_), H5Pclose(access_);
  }
  BrickFile(const BrickFile&) = delete;
  BrickFile& operator=(const BrickFile&) = delete;

  void write(const float* data) const { H5Dwrite(set_, H5T_NATIVE_FLOAT, memory_, space_, transfer_, data); }
  void read(float* data) const { H5Dread(set_, H5T_NATIVE_FLOAT, memory_, space_, transfer_, data); }

 private:
  hid_t access_, transfer_, space_ = 0, memory_ = 0, file_ = 0, set_ = 0;
};

void save_by_plan(const std::string& path, Domain& domain, const ht::BlockPlan& plan) {
  ht::io::save_blocks(plan, domain.memory.data(), path);
}
void load_by_plan(const std::string& path, Domain& domain, const ht::BlockPlan& plan) {
  ht::io::load_blocks(path, plan, domain.memory.data());
}
/// Saves each rank's hyperslab, collectively.
void save_by_hdf5(const std::string& path, Domain& domain, const ht::BlockPlan&) {
  BrickFile(path, domain.brick, true).write(domain.memory.data());
}
void load_by_hdf5(const std::string& path, Domain& domain, const ht::BlockPlan&) {
  BrickFile(path, domain.brick, false).read(domain.memory.data());
}

using Transfer = void (*)(const std::string& path, Domain& domain, const ht::BlockPlan& plan);

template <Transfer transfer>
Prepared saving() {
  const auto given = domain();
  return timed(
      [given, path = path_of("bricks.h5"), plan = plan_of(*given)] {
        transfer(path, *given, plan);
        return path;
      },
      check_file);
}

template <Transfer transfer>
Prepared loading() {
  const auto given = domain();
  const auto plan = plan_of(*given);
  const auto path = path_of("bricks.h5");
  save_by_plan(path, *given, plan);
  return timed(
      [=] {
        transfer(path, *given, plan);
        return given;
      },
      [=](const auto&) { return check(plan.from_blocks(given->memory.data())); });
}

}  // namespace

std::vector<Workload> block_workloads() {
  return {{"from_blocks", "BlockPlan", from_bricks},
          {"from_blocks", "MPI_Alltoallw", alltoallw<false>},
          {"to_blocks", "BlockPlan", to_bricks},
          {"to_blocks", "MPI_Alltoallw", alltoallw<true>},
          {"brick_statistics", "bricks in place", statistics_in_place<0>},
          {"brick_statistics", "between ghost cells", statistics_in_place<1>},
          {"brick_statistics", "one cut", statistics_of_slabs},
          {"save_blocks", "BlockPlan", saving<save_by_plan>},
          {"save_blocks", "HDF5", saving<save_by_hdf5>},
          {"load_blocks", "BlockPlan", loading<load_by_plan>},
          {"load_blocks", "HDF5", loading<load_by_hdf5>}};
}

}  // namespace bench
