import { describe, expect, it } from "vitest";
import { rational } from "../../../src/model/numbers/rational.ts";
import { type Program, WAIT_EVENT } from "../../../src/model/program/program.ts";
import type { Instruction } from "../../../src/model/program/program-builder.ts";
import { wholeRoutes } from "../../../src/model/routes/routes.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { attribute, type ScheduleTime } from "../../../src/simulate/program/attribution.ts";
import type { PlannedMessages } from "../../../src/simulate/program/plan.ts";
import { type ProgramSimulationOptions, simulateProgram } from "../../../src/simulate/program/program.ts";
import { chain, GB, input, line, output, star, written } from "../../support/program-sim.ts";

/** Bandwidths are 1 GB/s: a byte takes 1,000 ps. Returns what a program's time starts from, and what is added that is not 0. */
function apart(program: Program, topology: Topology, options: ProgramSimulationOptions, schedule?: ScheduleTime) {
  const taken = simulateProgram(program, topology, options);
  const { fromPs, differences, ps } = attribute(program, topology, options, taken, schedule);
  expect(ps).toBe(taken.ps);
  expect(fromPs + differences.reduce((sum, one) => sum + one.ps, 0)).toBe(ps);
  return [fromPs, Object.fromEntries(differences.filter((one) => one.ps !== 0).map((one) => [one.cause, one.ps]))];
}

const nop: Instruction = { op: "nop" };
const put = (via: "memory" | "port"): Instruction => ({
  ...{ op: "put", chunks: 1, via },
  sources: [input(0)],
  destinations: [output(1)],
});
const onFirstOfTwo = (...instructions: readonly Instruction[]): Program =>
  written("mscclpp", 2, 1, (builder) => {
    builder.addRank();
    builder.addBlock({ id: 0 });
    for (const instruction of instructions) builder.add(instruction);
    builder.addRank();
  });

describe("what a runtime adds, worked out by hand", () => {
  it("nothing to one message", () => {
    expect(apart(chain(2), line(2, 700), { sizeBytes: 1000, cuts: 1 })).toEqual([1_000_700, {}]);
  });

  it("slices: 4 over 2 hops are 5 times, not twice 4", () => {
    const cut = { sizeBytes: 4000, sliceBytes: 1000, cuts: 1, slots: 64 };
    expect(apart(chain(3), line(3, 700), cut)).toEqual([8_001_400, { slices: -3_000_000 }]);
  });

  it("slots: with one the sender hears of each message a latency after it was taken", () => {
    const cut = { sizeBytes: 4000, sliceBytes: 1000, cuts: 1, slots: 1 };
    // 4 messages of 1.75 us and 3 times 0.75 us, instead of 4 us and a latency
    expect(apart(chain(2), line(2, 750_000), cut)).toEqual([4_750_000, { slots: 4_500_000 }]);
  });

  it("flags: as many bytes again with LL, one of 15 with LL128", () => {
    const at = (protocol: Program["protocol"]) =>
      apart(chain(2, protocol), line(2, 0), { sizeBytes: 1200, cuts: 1, slots: 64 });
    expect([at("LL"), at("LL128")]).toEqual([
      [1_200_000, { flags: 1_200_000 }],
      [1_200_000, { flags: 80_000 }],
    ]);
  });

  it("copying: thread blocks of half the link's rate take 4 us for each half, in and out", () => {
    const options = { sizeBytes: 4000, cuts: 2, slots: 64, localBytesPerSecond: GB / 2 };
    expect(apart(chain(2), line(2, 0), options)).toEqual([4_000_000, { copying: 6_000_000 }]);
  });

  it("messages: two chunks of an instruction that travel together reach the third rank when both have come", () => {
    const together = written("msccl", 3, 2, (builder) => {
      for (let r = 0; r < 3; r++) {
        builder.addRank();
        builder.addBlock({ id: 0, sendPeer: r < 2 ? r + 1 : -1, recvPeer: r - 1 });
        const ends = { sources: r === 0 ? [input(0)] : [], destinations: r === 0 ? [] : [output(r)] };
        builder.add({ op: ["s", "rcs", "r"][r] as "s", chunks: 2, sends: r < 2, receives: r > 0, ...ends });
      }
    });
    const cut = { sizeBytes: 2000, cuts: 1, slots: 64 };
    expect(apart(together, line(3, 0), cut)).toEqual([3_000_000, { messages: 1_000_000 }]);
  });

  it("signals and requests: a latency each", () => {
    const get: Instruction = { op: "get", chunks: 1, via: "memory", sources: [input(1)], destinations: [output(0)] };
    expect(apart(onFirstOfTwo(get), line(2, 700), { sizeBytes: 1000 })).toEqual([1_000_700, { requests: 700 }]);
    const signalled = written("mscclpp", 2, 1, (builder) => {
      const on = builder.addEvent({ rank: 1, peer: 0, id: 0, via: "memory" });
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ op: "signal", via: "memory", posts: [on] });
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ op: "wait", via: "memory", waits: [{ kind: WAIT_EVENT, on }] });
    });
    expect(apart(signalled, line(2, 700), { sizeBytes: 1000 })).toEqual([0, { signals: 700 }]);
  });

  it("ports: what follows a flush waits until what went before has landed", () => {
    const flushed = onFirstOfTwo(put("port"), nop, { op: "flush", via: "port" }, nop, put("port"));
    expect(apart(flushed, line(2, 700), { sizeBytes: 1000 })).toEqual([2_000_700, { ports: 700 }]);
  });

  it("switches: what is loaded and stored in two turns of 64 KiB is stored while the second is loaded", () => {
    const program = written("mscclpp", 4, 1, (builder) => {
      for (let r = 0; r < 4; r++) {
        builder.addRank();
        if (r > 0) continue;
        builder.addBlock({ id: 0 });
        const [sources, destinations] = [[1, 2, 3].map((q) => input(q)), [1, 2, 3].map((q) => output(q))];
        builder.add({ op: "glres", chunks: 1, via: "switch", sources, destinations });
      }
    });
    expect(apart(program, star(4, 0), { sizeBytes: 131_072 })).toEqual([262_144_000, { switches: -65_536_000 }]);
  });
});

/** Returns the transfers of a schedule of 1,000 bytes a chunk, over these ways, in planned order. */
function planned(topology: Topology, ways: readonly (readonly number[])[]): PlannedMessages {
  const links = ways.flatMap((way) =>
    way
      .slice(1)
      .map((to, k) =>
        topology.linkSource.findIndex((from, link) => from === way[k] && topology.linkTarget[link] === to),
      ),
  );
  const offset = [0];
  for (const way of ways) offset.push((offset.at(-1) as number) + way.length - 1);
  const ends = (at: number) => ways.map((way) => way.at(at) as number);
  const routes = wholeRoutes(ends(0), ends(-1), offset, links);
  const route = Int32Array.from(ways, (_, k) => k);
  return { topology, routes, route, chunkBytes: rational(1000), switching: "cut-through" };
}

/** Returns a program of ranks that send a chunk to each other, each by two thread blocks of its own. */
const sending = (ranks: number, pairs: readonly (readonly [number, number])[]): Program =>
  written("msccl", ranks, 1, (builder) => {
    for (let r = 0; r < ranks; r++) {
      builder.addRank();
      let id = 0;
      for (const [from, to] of pairs) {
        if (from !== r && to !== r) continue;
        builder.addBlock({ id: id++, sendPeer: from === r ? to : -1, recvPeer: from === r ? -1 : from });
        if (from === r) builder.add({ op: "s", chunks: 1, sends: true, sources: [input(r)] });
        else builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(r)] });
      }
    }
  });

describe("a schedule that a program sends", () => {
  const whole = { sizeBytes: 1000, cuts: 1 };

  it("order: a switch holds what waits for its way out, where the schedule's transfer holds its way in", () => {
    const network = star(3, 0);
    const hub = 3;
    const program = sending(3, [
      [0, 2],
      [1, 2],
      [1, 0],
    ]);
    const messages = planned(network, [
      [0, hub, 2],
      [1, hub, 2],
      [1, hub, 0],
    ]);
    // as planned one after the other; in turn the second waits in the switch while the third leaves
    const sum = apart(program, network, whole, { ps: 3_000_000, planned: messages });
    expect(sum).toEqual([3_000_000, { order: -1_000_000 }]);
  });

  it("order: a message that is planned first goes first, however late it comes", () => {
    const network = line(3, 0);
    // 0 to 1 and on to 2, where 1 sends one of its own
    const program = written("msccl", 3, 1, (builder) => {
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: 1 });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [input(0)] });
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: 2, recvPeer: 0 });
      builder.add({ op: "rcs", chunks: 1, receives: true, sends: true, destinations: [output(1)] });
      builder.addBlock({ id: 1, sendPeer: 2, channel: 1 });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [input(1)] });
      builder.addRank();
      builder.addBlock({ id: 0, recvPeer: 1 });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(2)] });
      builder.addBlock({ id: 1, recvPeer: 1, channel: 1 });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(2)] });
    });
    const after = planned(network, [
      [0, 1],
      [1, 2],
      [1, 2],
    ]);
    expect(apart(program, network, whole, { ps: 2_000_000, planned: after })).toEqual([2_000_000, {}]);
  });

  it("routes: over a way of its own a message is twice as fast", () => {
    const builder = topologyBuilder("two ways");
    builder.addNpu("a");
    builder.addNpu("b");
    const hub = builder.addSwitch("s");
    builder.addLink(0, hub, GB, 0);
    builder.addLink(hub, 1, GB, 0);
    builder.addLink(0, 1, 2 * GB, 0);
    const network = builder.build();
    const messages = planned(network, [[0, hub, 1]]);
    expect(apart(chain(2), network, whole, { ps: 1_000_000, planned: messages })).toEqual([
      1_000_000,
      { routes: -500_000 },
    ]);
  });

  it("store-and-forward: a program passes on at once what the schedule stores on its way", () => {
    const network = line(3, 0);
    const messages: PlannedMessages = { ...planned(network, [[0, 1, 2]]), switching: "store-and-forward" };
    const sum = apart(sending(3, [[0, 2]]), network, whole, { ps: 2_000_000, planned: messages });
    expect(sum).toEqual([2_000_000, { order: -1_000_000 }]);
  });

  it("comes to its end where its order on a link is not the planned one: then as it comes", () => {
    const network = line(2, 0);
    // the plan wants b to a before both; the program sends it after it has received
    const program = written("msccl", 2, 1, (builder) => {
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: 1, recvPeer: 1 });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [input(0)] });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(0)] });
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: 0, recvPeer: 0 });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(1)] });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [input(1)] });
    });
    const duplex = planned(network, [
      [1, 0],
      [0, 1],
    ]);
    expect(apart(program, network, whole, { ps: 1_000_000, planned: duplex })).toEqual([
      1_000_000,
      { instructions: 1_000_000 },
    ]);
  });

  it("pieces: other messages than the schedule's", () => {
    const network = line(3, 0);
    const sum = apart(chain(3), network, whole, { ps: 5_000_000, planned: planned(network, [[0, 1]]) });
    expect(sum).toEqual([5_000_000, { pieces: -3_000_000 }]);
  });
});
