import { describe, expect, it, vi } from "vitest";
import { InfeasibleError, InputError, InternalError } from "../../src/base/errors.ts";
import { type Random, random } from "../../src/base/random.ts";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { type WasmExports, wasmKernels } from "../../src/engine/kernels/wasm.ts";
import { arborescenceOf } from "../support/arborescence-problems.ts";
import { availableKernels } from "../support/backends.ts";
import { balanceProblem } from "../support/balance-problems.ts";
import { concurrentOf } from "../support/concurrent-problems.ts";
import { allGather, mesh, relayOf } from "../support/networks.ts";
import { packOf } from "../support/pack-problems.ts";
import { placeOf } from "../support/place-problems.ts";
import { rateOf } from "../support/rate-problems.ts";
import { replayProblemOf } from "../support/replay-problems.ts";
import { spreadOf } from "../support/spread-problems.ts";
import { kernelContract } from "./kernels.contract.ts";

await kernelContract("wasm");

const module = (await availableKernels()).find(({ backend }) => backend === "wasm")?.module;

describe.runIf(module !== undefined)("WebAssembly without memory", () => {
  const problem = allGather(mesh(4, 3, 1000), 1);
  const expected = jsKernels.match(problem);

  it("says so where there is no room for an instance, and works once there is", () => {
    const kernels = wasmKernels(module as WebAssembly.Module);
    const refused = vi.spyOn(WebAssembly, "Instance").mockImplementation(function refuse(): never {
      throw new RangeError("no room");
    });
    expect(() => kernels.match(problem)).toThrow("ran out of memory");
    refused.mockRestore();
    expect(kernels.match(problem)).toEqual(expected);
  });

  it("takes a fresh instance after one whose memory was full", () => {
    const kernels = wasmKernels(module as WebAssembly.Module);
    const Real = WebAssembly.Instance;
    let instances = 0;
    const made = vi.spyOn(WebAssembly, "Instance").mockImplementation(function make(compiled, imports) {
      const { exports } = new Real(compiled, imports);
      return { exports: instances++ === 0 ? { ...exports, banyan_alloc: () => 0 } : exports };
    } as (compiled: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance);
    expect(() => kernels.match(problem)).toThrow("ran out of memory");
    expect(kernels.match(problem)).toEqual(expected);
    expect(kernels.match(problem)).toEqual(expected);
    made.mockRestore();
    expect(instances).toBe(2);
  });
});

describe.runIf(module !== undefined)("WebAssembly, called with what no caller should", () => {
  // Numbers that no count is, and addresses behind the memory, in its first bytes, or askew.
  const ODD = [-1, 2 ** 31 - 1, -(2 ** 31), 0xfffffff0, 0xfffffffc, 0, 1];
  const LEAST_ADDRESS = 1024;
  const ERRORS = [InputError, InfeasibleError, InternalError];
  // Which arguments of the raw entries are structs, and how many words they have.
  const NETWORK = [0, 11] as const;
  const STRUCTS: Readonly<Record<string, readonly (readonly [at: number, words: number])[]>> = {
    banyan_match: [NETWORK, [6, 6], [11, 10]],
    banyan_spread: [
      [0, 17],
      [3, 9],
    ],
    banyan_relay: [NETWORK, [9, 10]],
    banyan_place: [NETWORK],
    banyan_rate: [[0, 7]],
    banyan_sweep: [[0, 8]],
    banyan_partition: [[0, 8]],
    banyan_arborescence: [[0, 6]],
    banyan_period: [
      [0, 14],
      [3, 2],
    ],
    banyan_concurrent: [
      [0, 16],
      [3, 8],
    ],
    banyan_pack: [
      [0, 13],
      [3, 12],
    ],
    banyan_balance: [
      [0, 9],
      [3, 16],
    ],
    banyan_replay: [
      [0, 27],
      [3, 10],
    ],
  };
  const pick = <T>(items: readonly T[], draws: Random): T => items[draws.below(items.length)] as T;
  const links = rateOf(2, 0, [
    [0, 1, 5],
    [1, 0, 5],
  ]);
  const { nodeCount, linkSource, linkTarget, capacity, weight } = links;
  const pack = packOf([1, 0], 0, [[0, 1, 5]], { enoughHeight: 99 });
  const sweep = { nodeCount, linkSource, linkTarget, capacity, supply: weight, sinks: Int32Array.of(0, 1) };
  const gather = allGather(mesh(3, 2, 1000), 2);
  const flow = concurrentOf(
    2,
    [
      [0, 1, 5],
      [1, 0, 5],
    ],
    { gap: 0.1 },
  );
  const calls: ((kernels: Kernels) => unknown)[] = [
    (k) => k.match(gather),
    (k) => k.spread(spreadOf(gather)),
    (k) =>
      k.relay(
        relayOf(mesh(3, 2, 1000), [
          [0, 5],
          [3, 2],
        ]),
      ),
    (k) =>
      k.place(
        placeOf(mesh(2, 1, 1000), [
          { route: 0, key: 1, successors: [1] },
          { route: 1, key: 0, successors: [] },
        ]),
      ),
    (k) => k.rate(links),
    (k) => k.sweep(sweep),
    (k) => k.partition({ nodeCount, outsideCount: 0, linkSource, linkTarget, capacity, start: Int32Array.of(0, 1) }),
    (k) => k.pack(pack),
    (k) =>
      k.period({
        ...{ npuCount: 2, treeCount: 1, tail: Int32Array.of(0), head: Int32Array.of(1), used: Uint8Array.of(1) },
        ...{ serialPs: Float64Array.of(5), latencyPs: Float64Array.of(2), periodPs: 5, shakePs: 0, seed: 1, turn: 0 },
      }),
    (k) => k.arborescence(arborescenceOf(2, 0, [[0, 1, 5]])),
    (k) =>
      k.balance(
        balanceProblem(2, [
          [0, 1],
          [1, 0],
        ]),
      ),
    (k) => k.concurrent(flow),
    (k) => k.replay(replayProblemOf({ mode: 1, rows: 9, seed: 1 })),
  ];

  it("gives an error or an answer to 200 calls with one wrong number or address, and the right answers afterwards", () => {
    const draws = random(1);
    let armed = false;
    const Real = WebAssembly.Instance;
    const spoil = (name: string, memory: WebAssembly.Memory, args: number[]): void => {
      const [at, words] = pick(STRUCTS[name] ?? [[0, 0]], draws);
      const view = new DataView(memory.buffer);
      const wordOf = (i: number): number => view.getUint32((args[at] as number) + 4 * i, true);
      if (words === 0 || draws.below(6) === 0) {
        args[draws.below(args.length)] = pick(ODD, draws);
        return;
      }
      const [place, other] = [draws.below(words), wordOf(draws.below(words))];
      const areAddresses = wordOf(place) > LEAST_ADDRESS && other > LEAST_ADDRESS && other < memory.buffer.byteLength;
      const odd = areAddresses && draws.below(2) === 0 ? other : pick(ODD, draws);
      view.setUint32((args[at] as number) + 4 * place, odd, true);
    };
    const made = vi.spyOn(WebAssembly, "Instance").mockImplementation(function make(compiled, imports) {
      const { exports } = new Real(compiled, imports);
      const raw = exports as unknown as WasmExports;
      const kernelNames = Object.keys(exports).filter((name) => !/alloc|free|callback|memory|initialize/.test(name));
      const spoilt = kernelNames.map((name) => [
        name,
        (...args: number[]) => {
          if (armed) spoil(name, raw.memory, args);
          return (exports[name] as (...args: number[]) => number)(...args);
        },
      ]);
      return { exports: { ...exports, ...Object.fromEntries(spoilt) } };
    } as (compiled: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance);
    const kernels = wasmKernels(module as WebAssembly.Module);
    const expected = calls.map((call) => call(kernels));
    const outcomes = { answers: 0, errors: 0 };
    for (let i = 0; i < 200; i++) {
      armed = true;
      try {
        (calls[i % calls.length] as (kernels: Kernels) => unknown)(kernels);
        outcomes.answers++;
      } catch (error) {
        expect(
          ERRORS.some((Kind) => error instanceof Kind),
          String(error),
        ).toBe(true);
        outcomes.errors++;
      }
      armed = false;
      const checked = draws.below(calls.length);
      expect((calls[checked] as (kernels: Kernels) => unknown)(kernels)).toEqual(expected[checked]);
    }
    made.mockRestore();
    expect(outcomes.answers).toBeGreaterThan(20);
    expect(outcomes.errors).toBeGreaterThan(60);
  }, 60_000);
});
