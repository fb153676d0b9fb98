// Trees that span all NPUs of a network with switches, packed within the capacity of every link.
//
// Problem. Nodes V, of which the first are NPUs and the others forward; link e holds c(e) copies; k(v) copies of trees are
// wanted at root v. A tree reaches all NPUs, each by a path from an NPU that it has reached through nodes that forward.
// Such trees exist when, for every node set X with an NPU, c(into X) >= p(X) = sum of k(v) over v outside X (*), and every
// forwarding node has as much capacity in as out (Edmonds 1973; Bang-Jensen, Frank and Jackson 1995; Berczi and Frank 2010;
// Zhao 2026, theorems 25, 27, 29 and 31).
// Algorithm. Neither edge splitting nor a flow for every edge (Zhao 2026, algorithms 2 to 4). Trees are grown on the network
// itself, path by path, the cheapest first (pack_grow.h), within what the links and a pool of cuts allow (pack_pool.h). After
// a batch of trees one sweep of flows (pack_sweep.h) looks for sets that violate (*) for what is left, the tree in the making
// included. Each joins the pool; the first edge that broke it is found by replaying the batch against it, and all is undone
// from there on (discrete Newton rollback). Where no path is allowed for m copies of a tree, it goes on with fewer, and
// the others start anew.
// Why it is exact. A tree in the making, of m copies, adds m to p(X) for every X that it has not reached. In a network
// without switches an arc can then always be added for one copy (theorem 31), and switches can be split off with (*) kept, so
// in the network itself a path can; removing it leaves switches balanced. A cut of the pool is never violated again, so
// every violated set is new and forbids the very path that broke it, and there are finitely many. Undoing only relaxes (*).
// Splitting off needs balance of the switches alone (theorem 27 asks it of all nodes). Pairing f = (w, t) with e = (u, w) is
// barred only by tight sets: A with w but neither u nor t, or B with u and t but not w. If two A's share no NPU, both are
// tight without the other and f counts twice in in(A) + in(A') = in(A - A') + in(A' - A) + d(A n A', rest): no. So a least A
// and likewise a greatest B bar all u. Only A: in(A - w) < p(A - w). Only B: in(B + w) < p(B + w). Both: f leads from A - B
// to B - A; with an NPU in A n B, A n B and A u B cannot both be tight, and without one A - B is tight, and as in the first case.
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
