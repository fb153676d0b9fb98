import { INPUT, OUTPUT, type Program, SCRATCH } from "../../src/model/program/program.ts";
import {
  type Operand,
  type ProgramBuilder,
  type ProgramHeader,
  programBuilder,
} from "../../src/model/program/program-builder.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** Small programs and networks whose times are worked out by hand. Bandwidths of 1 GB/s: a byte takes 1,000 ps. */
export const GB = 1e9;

export const input = (rank: number, index = 0): Operand => ({ rank, buffer: INPUT, index });
export const output = (rank: number, index = 0): Operand => ({ rank, buffer: OUTPUT, index });
export const packet = (rank: number, index = 0): Operand => ({ rank, buffer: SCRATCH, index, packet: true });

/** Returns a custom program of `loopChunks` chunks. */
export function written(
  machine: Program["machine"],
  ranks: number,
  loopChunks: number,
  write: (builder: ProgramBuilder) => void,
  more: Partial<ProgramHeader> = {},
): Program {
  const builder = programBuilder();
  write(builder);
  const chunks = new Int32Array(ranks).fill(loopChunks);
  return builder.build({
    name: "by hand",
    machine,
    collective: "custom",
    rootRank: 0,
    rankCount: ranks,
    protocol: "Simple",
    inPlace: false,
    outOfPlace: true,
    minBytes: null,
    maxBytes: null,
    loopChunks,
    finer: 1,
    inputChunks: chunks,
    outputChunks: chunks,
    scratchChunks: chunks,
    channelCount: 1,
    ...more,
  });
}

/** Returns a chain of ranks: the first sends one chunk, which all forward. */
export function chain(ranks: number, protocol: Program["protocol"] = "Simple"): Program {
  const write = (builder: ProgramBuilder): void => {
    for (let r = 0; r < ranks; r++) {
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: r < ranks - 1 ? r + 1 : -1, recvPeer: r - 1 });
      if (r === 0) builder.add({ op: "s", chunks: 1, sends: true, sources: [input(0)] });
      else if (r === ranks - 1) builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(r)] });
      else builder.add({ op: "rcs", chunks: 1, receives: true, sends: true, destinations: [output(r)] });
    }
  };
  return written("msccl", ranks, 1, write, { protocol });
}

/** Returns NPUs in a line, each with a link to the next. */
export function line(npus: number, latencyPs: number): Topology {
  const builder = topologyBuilder("line");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`n${npu}`);
  for (let npu = 0; npu + 1 < npus; npu++) builder.addDuplex(npu, npu + 1, GB, latencyPs);
  return builder.build();
}

/** Returns NPUs with a link each way to one switch. */
export function star(npus: number, latencyPs: number, able = true): Topology {
  const builder = topologyBuilder("star");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`n${npu}`);
  const hub = builder.addSwitch("hub", able ? { multicast: true, aggregation: true } : {});
  for (let npu = 0; npu < npus; npu++) builder.addDuplex(npu, hub, GB, latencyPs);
  return builder.build();
}
