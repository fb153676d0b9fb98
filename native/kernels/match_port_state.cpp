#include "match_port_state.h"

namespace banyan {
namespace {

// Numbers the groups by their least resources; returns how many there are, or kNone when there is no memory.
std::int32_t NumberGroups(const BanyanNetwork& network, PortState& ports) {
  const std::int32_t resources = network.resource_count;
  Buffer<std::int32_t> parent;
  if (!AllocateRange(parent, resources) || !ports.group_of_resource.Allocate(At(resources))) return kNone;
  for (std::int32_t r = 0; r < network.route_count; r++) {
    for (std::int32_t i = network.use_offset[r]; i < network.use_offset[r + 1]; i++) {
      Unite(parent.data(), SendPort(network, r), network.use_resource[i]);
    }
  }
  std::int32_t groups = 0;
  for (std::int32_t i = 0; i < resources; i++) {
    const std::int32_t root = Find(parent.data(), i);
    ports.group_of_resource[At(i)] = root == i ? groups++ : ports.group_of_resource[At(root)];
  }
  return groups;
}

// The receiving ports of each group, the routes into each, and each group's slowest rank.
[[nodiscard]] bool BuildGroupPorts(const BanyanNetwork& network, const SlotRanks& ranks, std::int32_t groups,
                                   PortState& ports) {
  const std::int32_t resources = network.resource_count;
  Buffer<std::int32_t> port_of_route;
  Buffer<std::int32_t> group_of_port;
  if (!port_of_route.Allocate(At(network.route_count)) || !group_of_port.Allocate(At(resources))) return false;
  if (!ports.group_rank.Allocate(At(groups))) return false;
  port_of_route.Fill(kNone);
  group_of_port.Fill(kNone);
  for (std::int32_t r = 0; r < network.route_count; r++) {
    if (!Shared(network, r)) continue;
    const std::int32_t port = ReceivePort(network, r);
    const std::int32_t group = ports.group_of_resource[At(port)];
    port_of_route[At(r)] = port;
    group_of_port[At(port)] = group;
    if (ranks.rank[At(r)] > ports.group_rank[At(group)]) ports.group_rank[At(group)] = ranks.rank[At(r)];
  }
  return ports.port_routes.Group(port_of_route.data(), network.route_count, resources) &&
         ports.group_ports.Group(group_of_port.data(), resources, groups);
}

// The groups that each NPU sends into.
[[nodiscard]] bool BuildNodeGroups(const BanyanNetwork& network, std::int32_t groups, PortState& ports) {
  Buffer<std::int32_t> seen;
  Lists out;
  Lists& node_groups = ports.node_groups;
  if (!seen.Allocate(At(groups)) || !GroupRoutes(network, network.route_source, true, out)) return false;
  if (!node_groups.offset.Allocate(At(network.npu_count) + 1) || !node_groups.items.Allocate(out.items.size())) {
    return false;
  }
  std::int32_t count = 0;
  for (std::int32_t v = 0; v < network.npu_count; v++) {
    for (std::int32_t i = out.Begin(v); i < out.End(v); i++) {
      const std::int32_t group = ports.group_of_resource[At(SendPort(network, out.items[At(i)]))];
      if (seen[At(group)] == v + 1) continue;
      seen[At(group)] = v + 1;
      node_groups.items[At(count++)] = group;
    }
    node_groups.offset[At(v) + 1] = count;
  }
  return true;
}

}  // namespace

bool BuildPorts(const BanyanNetwork& network, const SlotRanks& ranks, PortState& ports) {
  const auto resources = At(network.resource_count);
  const std::int32_t groups = NumberGroups(network, ports);
  return groups != kNone && BuildGroupPorts(network, ranks, groups, ports) && BuildNodeGroups(network, groups, ports) &&
         ports.tick.Allocate(At(groups)) && ports.matched.Allocate(resources) && ports.chosen.Allocate(resources) &&
         ports.rotation.Allocate(resources) && ports.visited.Allocate(resources) && ports.open.Allocate(resources) &&
         ports.trail.Allocate(resources + 1);
}

}  // namespace banyan
