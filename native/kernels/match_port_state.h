// Groups of routes that contend for resources, with their sending and receiving ports: the first and the last resource of
// a route. The twin of src/engine/kernels/js/match-port-state.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_PORT_STATE_H_
#define BANYAN_KERNELS_MATCH_PORT_STATE_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"
#include "ten.h"

namespace banyan {

/// A receiving port that looks for a sending one: place in its list of routes, and the route there once it is tried.
struct PortTurn {
  std::int32_t port;
  std::int32_t place;
  std::int32_t route = kNone;
};

struct PortState {
  Buffer<std::int32_t> group_of_resource;  // [resources]
  Lists port_routes;                       // routes into each receiving port
  Lists group_ports;                       // receiving ports of each group
  Lists node_groups;                       // groups that each NPU sends into
  Buffer<std::int32_t> group_rank;         // [groups] slowest rank of the group's routes
  Buffer<std::uint32_t> tick;              // [groups] instants at which something departed
  Buffer<std::int32_t> matched;            // [resources] route matched to a sending port
  Buffer<std::int32_t> chosen;             // [resources] route matched to a receiving port
  Buffer<std::int32_t> rotation;           // [resources] where a receiving port's list starts
  Buffer<std::uint32_t> visited;           // [resources] stamp of the last augmenting step
  Buffer<std::int32_t> open;               // [resources] scratch: receiving ports not yet matched
  Buffer<PortTurn> trail;                  // [resources + 1] scratch of an augmenting step
  std::uint32_t stamp = 0;
};

inline std::int32_t SendPort(const BanyanNetwork& network, std::int32_t route) {
  return network.use_resource[network.use_offset[route]];
}

inline std::int32_t ReceivePort(const BanyanNetwork& network, std::int32_t route) {
  return network.use_resource[network.use_offset[route + 1] - 1];
}

[[nodiscard]] bool BuildPorts(const BanyanNetwork& network, const SlotRanks& ranks, PortState& ports);

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_PORT_STATE_H_
