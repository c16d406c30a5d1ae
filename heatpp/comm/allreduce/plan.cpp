#include <heatpp/comm/allreduce/planned.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/progress/persistent.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/plan.hpp>

namespace heatpp {

struct AllreducePlan::Impl {
  Topology topology;
  Buffer data;
  AllreduceOptions options;
  comm::Plan plan;
  detail::Persistent operation = {};
  bool begun_alone = false;  // on one rank, which has nothing to do

  [[nodiscard]] std::unique_ptr<detail::Operation> make() const {
    return comm::start_planned(topology, options, data, plan);
  }
};

AllreducePlan::AllreducePlan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AllreducePlan::AllreducePlan(AllreducePlan&&) noexcept = default;
AllreducePlan& AllreducePlan::operator=(AllreducePlan&&) noexcept = default;
AllreducePlan::~AllreducePlan() = default;

AllreducePlan Topology::plan(Buffer data, const AllreduceOptions& options) const {
  comm::check_options(*this, options, data);
  auto impl = std::make_unique<AllreducePlan::Impl>(
      AllreducePlan::Impl{*this, data, options, comm::plan_of(*this, options, data)});
  // The name may not live as long as the plan.
  if (!options.algorithm.empty()) impl->options.algorithm = impl->plan.choice.algorithm->name;
  return AllreducePlan(std::move(impl));
}

void AllreducePlan::start(std::source_location site) {
  if (!impl_)
    detail::raise<ValueError>("AllreducePlan", "got a start of a plan that was moved; expected one that is there");
  auto& [topology, data, options, plan, operation, begun_alone] = *impl_;
  if (operation.under_way() || begun_alone)
    detail::raise<ValueError>("AllreducePlan", "got another start of a plan that is under way; expected wait() before");
  const auto& comm = topology.comm();
  if (comm.size() == 1 && !data.memory.on_device()) return static_cast<void>(begun_alone = true);
  comm.impl().count(data.bytes());
  const detail::Call call{"allreduce by a plan", data.count, data.dtype, options.op,
                          comm::text_of(topology, options, plan)};
  const auto make = [this] { return impl_->make(); };
  if (detail::debugging(comm) && !data.memory.on_device())
    return operation.begin([&] { return detail::checked(comm, call, site, make); });
  detail::check_collective(comm, call, site);
  operation.restart(make);
}

bool AllreducePlan::test() {
  if (!impl_) return true;
  impl_->begun_alone = false;
  return impl_->operation.test();
}
void AllreducePlan::wait() {
  if (!impl_) return;
  impl_->begun_alone = false;
  impl_->operation.wait();
}

}  // namespace heatpp
