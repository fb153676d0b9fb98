import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { BUFFER_LETTERS, type Program } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { type BlockTables, blockTables } from "./mscclpp-json-blocks.ts";
import { type GpuTables, gpuTables, PEER_VIAS, type PeerVia } from "./mscclpp-json-gpus.ts";
import { operationsOf } from "./mscclpp-json-operations.ts";

/** Sizes as nccl-tests counts them, bytes; where left out, those of the program. */
export interface MscclppJsonOptions {
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

const THREADS_PER_BLOCK = 1024;
const ALIGNMENT = 16;
const GREATEST_SIZE = 2n ** 64n - 1n;

/**
 * Yields the text of an execution plan of MSCCL++ (schema of its version 0.8), GPU by GPU, an operation to a line. Keys and
 * their order are those of the files that MSCCL++'s own language writes.
 *
 * Throws InputError for a program of another machine, for LL128, which plans have not, for names of collectives that they do
 * not know, and for instructions of MSCCL. O(program).
 */
export function* mscclppJsonParts(program: Program, options: MscclppJsonOptions = {}): Generator<string> {
  if (program.machine !== "mscclpp")
    throw new InputError("the machine of an MSCCL++ plan", '"mscclpp"', program.machine);
  if (program.protocol === "LL128")
    throw new InputError("the protocol of an MSCCL++ plan", '"Simple" or "LL"', "LL128");
  const collective = MSCCLPP_RUNTIME.collectives[program.collective];
  if (collective === undefined) {
    const known = Object.values(MSCCLPP_RUNTIME.collectives).join(", ");
    throw new InputError("the collective of an MSCCL++ plan", `one of ${known}`, program.collective);
  }
  const packets = program.protocol === "LL";
  yield "{\n";
  yield fields("  ", {
    name: program.name,
    collective,
    protocol: program.protocol,
    inplace: program.inPlace,
    reuse_resources: false,
  });
  yield '  "gpus": [';
  for (const gpu of gpuTables(program)) {
    yield gpu.rank === 0 ? "\n" : ",\n";
    yield* gpuParts(program, gpu);
  }
  yield "\n  ],\n";
  yield fields("  ", {
    num_threads_per_block: THREADS_PER_BLOCK,
    use_double_scratch_buffer: packets,
    buffer_alignment: ALIGNMENT,
  });
  yield `  "min_message_size": ${sizeText(options.minBytes ?? program.minBytes ?? 0)},\n`;
  yield `  "max_message_size": ${sizeText(options.maxBytes ?? program.maxBytes ?? Number.POSITIVE_INFINITY)}\n}\n`;
}

function sizeText(bytes: number): string {
  if (bytes >= Number(GREATEST_SIZE)) return GREATEST_SIZE.toString();
  return BigInt(Math.max(0, Math.floor(bytes))).toString();
}

function fields(indent: string, values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${indent}"${key}": ${jsonText(value)},\n`)
    .join("");
}

function* gpuParts(program: Program, gpu: GpuTables): Generator<string> {
  const { rank } = gpu;
  yield "    {\n";
  yield fields("      ", {
    id: rank,
    input_chunks: program.inputChunks[rank],
    output_chunks: program.outputChunks[rank],
    scratch_chunks: program.scratchChunks[rank],
  });
  yield '      "threadblocks": [';
  const [from, to] = [program.blockOffset[rank], program.blockOffset[rank + 1]];
  for (let block = from; block < to; block++) {
    yield block === from ? "\n" : ",\n";
    yield blockText(program, gpu, block);
  }
  yield to > from ? "\n      ],\n" : "],\n";
  yield `      "channels": ${list(channelObjects(gpu))},\n`;
  const remotes = gpu.remotes.map(({ rank: other, buffer, vias }) => ({
    rank: other,
    type: BUFFER_LETTERS[buffer],
    access_channel_types: PEER_VIAS.filter((via) => vias.has(via)),
  }));
  yield `      "remote_buffers": ${list(remotes)},\n`;
  yield `      "semaphores": ${list(gpu.semaphores.map((init_value) => ({ init_value })))}\n    }`;
}

function channelObjects({ channels, switches }: GpuTables): object[] {
  const peers = PEER_VIAS.filter((via) => channels[via].peers.length > 0);
  return [
    ...peers.map((via) => ({ channel_type: via, connected_to: channels[via].peers })),
    ...switches.map(({ buffer, ranks }) => ({
      channel_type: "switch",
      buffer_type: BUFFER_LETTERS[buffer],
      rank_groups: [{ size: ranks.length, ranks }],
    })),
  ];
}

function blockText(program: Program, gpu: GpuTables, block: number): string {
  const tables = blockTables(program, gpu, block);
  const operations = [...operationsOf(program, gpu, tables, block)];
  const channels = [
    ...named(tables.channels).map(([via, ids]) => ({ channel_type: via, channel_ids: ids })),
    ...(tables.switches.length > 0 ? [{ channel_type: "switch", channel_ids: tables.switches }] : []),
  ];
  const remotes = named(tables.remotes).map(([via, ids]) => ({ access_channel_type: via, remote_buffer_ids: ids }));
  return `        {
          "id": ${program.blockId[block]},
          "ops": ${list(operations, "          ")},
          "channels": ${jsonText(channels)},
          "remote_buffer_refs": ${jsonText(remotes)}
        }`;
}

function named(tables: BlockTables["channels"]): [PeerVia, number[]][] {
  return PEER_VIAS.filter((via) => tables[via].size > 0).map((via) => [via, [...tables[via].keys()]]);
}

/** Returns a list with an element to a line. */
function list(elements: readonly object[], indent = "      "): string {
  if (elements.length === 0) return "[]";
  const lines = elements.map((element) => `${indent}  ${jsonText(element)}`);
  return `[\n${lines.join(",\n")}\n${indent}]`;
}
