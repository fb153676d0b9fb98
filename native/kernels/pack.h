// Trees that span all NPUs of a network with switches, packed within the capacity of every link.
//
// Problem. Nodes V, of which the first are NPUs and the others forward; link e holds c(e) copies; k(v) copies of trees are
// wanted at root v. A tree reaches all NPUs, each by a path from an NPU that it has reached through nodes that forward.
// Such trees exist when, for every node set X with an NPU, c(into X) >= sum of k(v) over v outside X (*), and every
// forwarding node has as much capacity in as out (Edmonds 1973; Berczi and Frank 2010; Zhao 2026, theorems 24 and 29 with the
// edge splitting of Bang-Jensen, Frank and Jackson 1995).
// Algorithm. Neither edge splitting nor a flow for every edge (Zhao 2026, algorithms 2 to 4). Trees are grown on the network
// itself, path by path, the cheapest first (pack_grow.h), within what the links and a pool of cuts allow (pack_pool.h). After
// a batch of trees one sweep of flows (pack_sweep.h) looks for sets that violate (*) for what is left, the tree in the making
// included. Each joins the pool; the first edge that broke it is found by replaying the batch against it, and all is undone
// from there on (discrete Newton rollback). Where no path is allowed for m copies of a tree, it goes on with fewer, and
// the others start anew.
// Why it is exact. Splitting the switches off keeps (*), and in what remains an arc can always be added (Lovasz 1976), so in
// the network a path can, for one copy; removing it leaves switches balanced. A cut of the pool is never violated again, so every
// violated set is new and forbids the very path that broke it, and there are finitely many. Undoing only relaxes (*).
// Invariants. At every sweep that finds nothing, (*) holds: everything before it stands.
// Complexity. Growth O(links log links) per tree with the cuts that a path enters; NPUs local flows per sweep; one to three
// sweeps per rollback. Memory O(nodes + links + cuts x (nodes / 32 + links that enter)), besides the trees.
// Deviations. No bound on rollbacks is proved; they are few. Where forwarding nodes are not balanced the search may be
// stuck, and says so; it then has tried every path.
#ifndef BANYAN_KERNELS_PACK_H_
#define BANYAN_KERNELS_PACK_H_

#include "../abi.h"

namespace banyan {

/// Writes the trees, or a cut that forbids them. The caller has checked every index and value.
[[nodiscard]] BanyanStatus Pack(const BanyanPack& problem, BanyanCancelled cancelled, const void* context,
                                BanyanTrees* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_H_
