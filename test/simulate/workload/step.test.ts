import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INPUT, type LayerWork, NOTHING, type Pass } from "../../../src/model/workload/layer-work.ts";
import { ALONE, type Parallelism } from "../../../src/model/workload/parallelism.ts";
import { type StepTasks, stepTasks } from "../../../src/model/workload/step-tasks.ts";
import type { TrainingStep } from "../../../src/model/workload/training-step.ts";
import { exposureOf } from "../../../src/simulate/workload/exposure.ts";
import { simulateStep, type WorkCosts } from "../../../src/simulate/workload/step.ts";

const NO_MEMORY = { parameters: 0, gradients: 0, optimizer: 0, activations: 0, working: 0 };

const compute = (name: string, givenPs: number, after: readonly number[] = [INPUT]) => ({
  after,
  computation: { name, kind: "matmul" as const, flops: 0, bytes: 0, givenPs },
});
const talk = (group: "tensor" | "copies", after: readonly number[]) => ({
  after,
  communication: { name: `${group} all-reduce`, collective: "allreduce" as const, group, bytes: 1 },
});

const pass = (parts: Pass["parts"], outputs: readonly number[] = [parts.length - 1]): Pass => ({ parts, outputs });

function layer(forwardPs: number, backwardPs: number, more: Partial<LayerWork> = {}): LayerWork {
  return {
    name: "layer",
    forward: pass([compute("forward", forwardPs)]),
    backward: pass([compute("backward", backwardPs)]),
    gradients: NOTHING,
    update: NOTHING,
    memory: NO_MEMORY,
    ...more,
  };
}

function step(parallelism: Partial<Parallelism>, microBatches: number, one: LayerWork): TrainingStep {
  const { pipeline = 1, interleaved = 1 } = parallelism;
  return {
    name: "test",
    parallelism: { ...ALONE, ...parallelism },
    microBatches,
    order: "1f1b",
    overlapped: false,
    trains: true,
    stages: Array.from({ length: pipeline * interleaved }, () => [{ layer: one, count: 1 }]),
    boundaryBytes: 1,
    samples: 1,
    tokens: 1,
    modelFlops: 1,
  };
}

/** Computations take what they say, communications `ps`, and share nothing. */
function costsOf(tasks: StepTasks, ps: number): WorkCosts {
  const works = tasks.works.length;
  return {
    ps: Float64Array.from(tasks.works, (work) =>
      work.kind === "computations" ? work.computations.reduce((sum, { givenPs = 0 }) => sum + givenPs, 0) : ps,
    ),
    latencyPs: new Float64Array(works),
    priority: new Int32Array(works),
    offset: new Int32Array(works + 1),
    resource: new Int32Array(0),
    share: new Float64Array(0),
    resourceCount: 0,
  };
}

describe("a step in a pipeline without communication time", () => {
  it("takes (micro batches + stages - 1) passes each way", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 9 }), (stages, extra) => {
        const microBatches = stages + extra;
        const tasks = stepTasks(step({ pipeline: stages }, microBatches, layer(100, 200)));
        const times = simulateStep(tasks, costsOf(tasks, 0));
        expect(times.ps).toBe((microBatches + stages - 1) * 300);
        for (const { computePs, bubblePs } of exposureOf(tasks, times)) {
          expect(computePs).toBe(microBatches * 300);
          expect(bubblePs).toBe((stages - 1) * 300);
        }
      }),
    );
  });

  it("has a bubble that many times smaller where parts are interleaved (Narayanan et al. 2021, 2.2)", () => {
    for (const interleaved of [1, 2, 4]) {
      const tasks = stepTasks(step({ pipeline: 4, interleaved }, 8, layer(400 / interleaved, 800 / interleaved)));
      expect(simulateStep(tasks, costsOf(tasks, 0)).ps).toBe(8 * 1200 + (3 * 1200) / interleaved);
    }
  });
});

describe("communications", () => {
  it("hide behind computations where nothing waits for them, and are exposed where something does", () => {
    const blocking = layer(100, 200, { forward: pass([compute("forward", 100), talk("tensor", [0])]) });
    const tasks = stepTasks(step({ tensor: 2 }, 3, blocking));
    const times = simulateStep(tasks, costsOf(tasks, 30));
    expect(times.ps).toBe(3 * 300 + 3 * 30);
    const [actor] = exposureOf(tasks, times);
    expect(actor?.exposedPs.get("tensor")).toBe(90);

    const hidden = layer(100, 200, { gradients: pass([talk("copies", [INPUT])]) });
    const two = { ...step({ data: 2 }, 1, hidden), stages: [[{ layer: hidden, count: 2 }]] };
    const free = stepTasks(two);
    // the second layer's gradients hide behind the first layer's backward pass, the first layer's are exposed
    expect(simulateStep(free, costsOf(free, 150)).ps).toBe(600 + 150);
  });

  it("of one NPU are none", () => {
    const blocking = layer(100, 200, { forward: pass([compute("forward", 100), talk("tensor", [0])]) });
    const tasks = stepTasks(step({}, 1, blocking));
    expect(simulateStep(tasks, costsOf(tasks, 30)).ps).toBe(300);
  });
});

/** Random tasks in lanes, some of which share resources. */
const PROBLEMS = fc
  .record({
    lanes: fc.array(fc.record({ computes: fc.boolean(), inOrder: fc.boolean() }), { minLength: 1, maxLength: 4 }),
    works: fc.array(
      fc.record({
        ps: fc.integer({ min: 0, max: 120 }),
        latencyPs: fc.integer({ min: 0, max: 20 }),
        priority: fc.integer({ min: 0, max: 1 }),
        shares: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    tasks: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.array(fc.nat(), { maxLength: 3 })), {
      minLength: 1,
      maxLength: 14,
    }),
  })
  .map(({ lanes, works, tasks }) => {
    const awaited = tasks.map(([, , after], t) => [...new Set(t === 0 ? [] : after.map((a) => a % t))]);
    const offset = Int32Array.from({ length: tasks.length + 1 }, (_, t) => awaited.slice(0, t).flat().length);
    const table: StepTasks = {
      actors: ["one"],
      lanes: lanes.map((lane, i) => ({ actor: 0, name: `lane ${i}`, ...lane })),
      works: works.map(() => ({ kind: "computations", computations: [] })),
      labels: ["task"],
      work: Int32Array.from(tasks, ([w]) => w % works.length),
      lane: Int32Array.from(tasks, ([, l]) => l % lanes.length),
      label: new Int32Array(tasks.length),
      phase: new Uint8Array(tasks.length),
      microBatch: new Int32Array(tasks.length),
      offset,
      awaited: Int32Array.from(awaited.flat()),
    };
    const used = works.map(({ shares }) =>
      shares.flatMap((share, r) => (share === 0 ? [] : [{ r, share: share / 4 }])),
    );
    const costs: WorkCosts = {
      ps: Float64Array.from(works, ({ ps }) => ps),
      latencyPs: Float64Array.from(works, ({ latencyPs }) => latencyPs),
      priority: Int32Array.from(works, ({ priority }) => priority),
      offset: Int32Array.from({ length: works.length + 1 }, (_, w) => used.slice(0, w).flat().length),
      resource: Int32Array.from(used.flat(), ({ r }) => r),
      share: Float64Array.from(used.flat(), ({ share }) => share),
      resourceCount: 3,
    };
    return { tasks: table, costs };
  });

/** Plays a step picosecond by picosecond; rates rise together in small equal steps until something is full. */
function brute({ lanes, work, lane, offset, awaited }: StepTasks, costs: WorkCosts): number[] {
  const count = work.length;
  const end = new Array<number>(count).fill(-1);
  const readyAt = new Array<number>(count).fill(-1);
  const left = new Array<number>(count).fill(0);
  const running = new Set<number>();
  const sharesOf = (task: number): [number, number][] => {
    const list: [number, number][] = [];
    for (let k = costs.offset[work[task]]; k < costs.offset[work[task] + 1]; k++) {
      list.push([costs.resource[k], costs.share[k]]);
    }
    return list;
  };
  const STEP = 1 / 120;
  for (let now = 0; end.includes(-1); now++) {
    for (let again = true; again; ) {
      again = false;
      for (const task of running) {
        if (left[task] > 1e-3) continue;
        // the latency is counted down as negative time
        if (left[task] > -costs.latencyPs[work[task]] && costs.latencyPs[work[task]] > 0) continue;
        end[task] = now;
        running.delete(task);
        again = true;
      }
      for (let t = 0; t < count; t++) {
        if (readyAt[t] < 0 && awaited.subarray(offset[t], offset[t + 1]).every((a) => end[a] >= 0)) readyAt[t] = now;
      }
      for (let l = 0; l < lanes.length; l++) {
        if ([...running].some((t) => lane[t] === l)) continue;
        const own = Array.from({ length: count }, (_, t) => t).filter((t) => lane[t] === l && end[t] < 0);
        const next = lanes[l].inOrder
          ? own.slice(0, 1).filter((t) => readyAt[t] >= 0)
          : own.filter((t) => readyAt[t] >= 0).sort((a, b) => readyAt[a] - readyAt[b] || a - b);
        if (next.length === 0) continue;
        running.add(next[0]);
        left[next[0]] = costs.ps[work[next[0]]];
        again = true;
      }
    }
    const rate = new Map<number, number>();
    const room = [1, 1, 1];
    const flows = [...running].filter((t) => left[t] > 1e-3);
    for (const level of [0, 1]) {
      const rising = new Set(flows.filter((t) => costs.priority[work[t]] === level));
      for (const t of rising) rate.set(t, 0);
      while (rising.size > 0) {
        for (const t of rising) {
          const others = [...rising];
          const isFull = sharesOf(t).some(([r]) => {
            const wanted = others.reduce((sum, o) => sum + (sharesOf(o).find(([x]) => x === r)?.[1] ?? 0), 0);
            return room[r] + 1e-9 < wanted * STEP;
          });
          if (isFull || (rate.get(t) as number) > 1 - STEP / 2) rising.delete(t);
        }
        for (const t of rising) {
          rate.set(t, (rate.get(t) as number) + STEP);
          for (const [r, share] of sharesOf(t)) room[r] -= share * STEP;
        }
      }
    }
    for (const t of running) {
      if (left[t] > 1e-3) left[t] = Math.max(0, left[t] - (rate.get(t) ?? 1));
      else left[t] -= 1;
    }
  }
  return end;
}

describe("simulateStep", () => {
  it("agrees with a simulation picosecond by picosecond", () => {
    fc.assert(
      fc.property(PROBLEMS, ({ tasks, costs }) => {
        const { endPs, ps } = simulateStep(tasks, costs);
        const expected = brute(tasks, costs);
        const last = Math.max(...expected);
        expect(Math.abs(ps - last)).toBeLessThanOrEqual(0.02 * last + 2 * endPs.length);
      }),
      { numRuns: 80 },
    );
  });

  it("divides the time of every actor without remainder", () => {
    fc.assert(
      fc.property(PROBLEMS, ({ tasks, costs }) => {
        const oneLane = { ...tasks, lanes: tasks.lanes.map((lane, l) => ({ ...lane, computes: l === 0 })) };
        const named = { ...oneLane, works: tasks.works };
        const times = simulateStep(named, costs);
        for (const { computePs, exposedPs, bubblePs } of exposureOf(named, times)) {
          const exposed = [...exposedPs.values()].reduce((a, b) => a + b, 0);
          expect(computePs + exposed + bubblePs).toBe(times.ps);
          expect(bubblePs).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it("refuses tasks that wait for each other", () => {
    const tasks = stepTasks(step({}, 1, layer(1, 2)));
    const circle = { ...tasks, offset: Int32Array.from([0, 1, 2, 2]), awaited: Int32Array.from([1, 0]) };
    expect(() => simulateStep(circle, costsOf(tasks, 0))).toThrow(/circle/);
  });
});
