// What the WebAssembly module exports besides the C ABI: memory for the caller's arrays, and the cancel callback, which
// asks the host through an import. Host side: src/engine/kernels/wasm.ts, which lays out the structs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "abi.h"

// The offsets that wasm.ts writes to.
static_assert(sizeof(void*) == 4);
static_assert(sizeof(BanyanNetwork) == 44 && offsetof(BanyanNetwork, route_source) == 16);
static_assert(sizeof(BanyanTransfers) == 40 && offsetof(BanyanTransfers, chunk) == 8);
static_assert(offsetof(BanyanTransfers, count) == 24 && offsetof(BanyanTransfers, detail) == 32);
static_assert(sizeof(BanyanMatchPolicy) == 24);
static_assert(sizeof(BanyanSpread) == 72 && offsetof(BanyanSpread, seed) == 40);
static_assert(sizeof(BanyanLogs) == 36 && offsetof(BanyanLogs, detail) == 28);
static_assert(sizeof(BanyanRate) == 28 && offsetof(BanyanRate, link_source) == 12);
static_assert(sizeof(BanyanSweep) == 32 && offsetof(BanyanSweep, link_source) == 12);
static_assert(sizeof(BanyanPartition) == 32 && offsetof(BanyanPartition, link_source) == 16);
static_assert(sizeof(BanyanPack) == 52 && offsetof(BanyanPack, link_source) == 16);
static_assert(sizeof(BanyanTrees) == 48 && offsetof(BanyanTrees, root) == 16 && offsetof(BanyanTrees, outcome) == 36);
static_assert(sizeof(BanyanConcurrent) == 64 && offsetof(BanyanConcurrent, node_count) == 8);
static_assert(offsetof(BanyanConcurrent, arc_offset) == 28);
static_assert(sizeof(BanyanConcurrentFlow) == 32 && offsetof(BanyanConcurrentFlow, length) == 20);
static_assert(sizeof(BanyanArborescence) == 24 && offsetof(BanyanArborescence, arc_source) == 12);
static_assert(sizeof(BanyanPeriod) == 56 && offsetof(BanyanPeriod, tail) == 36 && sizeof(BanyanTimetable) == 8);
static_assert(sizeof(BanyanBalance) == 36 && offsetof(BanyanBalance, in_offset) == 24);
static_assert(sizeof(BanyanBalanced) == 64 && offsetof(BanyanBalanced, load_num) == 16);
static_assert(offsetof(BanyanBalanced, step) == 32 && offsetof(BanyanBalanced, detail) == 52);
static_assert(sizeof(BanyanReplay) == 108 && offsetof(BanyanReplay, route_source) == 40);
static_assert(sizeof(BanyanSets) == 20 && sizeof(BanyanSteps) == 124 && offsetof(BanyanSteps, from) == 64);
static_assert(sizeof(BanyanReplayed) == 40 && offsetof(BanyanReplayed, last) == 8);
static_assert(offsetof(BanyanReplayed, outcome) == 16 && offsetof(BanyanReplayed, link_busy) == 24);

extern "C" {

__attribute__((import_module("banyan"), import_name("cancelled"))) int32_t banyan_host_cancelled();

/// 8-aligned memory, or 0.
BANYAN_EXPORT(banyan_alloc) void* banyan_alloc(std::size_t bytes) { return std::malloc(bytes == 0 ? 1 : bytes); }

BANYAN_EXPORT(banyan_free) void banyan_free(void* pointer) { std::free(pointer); }

static int32_t AskHost(const void*) { return banyan_host_cancelled(); }

/// The callback to hand to the kernels.
BANYAN_EXPORT(banyan_cancel_callback) BanyanCancelled banyan_cancel_callback() { return AskHost; }

}  // extern "C"
