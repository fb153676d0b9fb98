import { InputError } from "../base/errors.ts";
import type { Engine, EngineOptions } from "../engine/types.ts";
import { readTopology } from "../import/networks/network-formats.ts";
import { looksLikePreset, presetTopology } from "../model/presets/preset.ts";
import { closest, unknownName } from "../model/topology/closest.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { Comparison } from "../report/comparison.ts";
import { type BoundReport, boundReport } from "../report/result.ts";
import type { OptionRow } from "../request/option-row.ts";
import { type OptionId, ROWS } from "../request/option-table.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { type CollectiveOptions, problemOf } from "../request/problem.ts";
import type { AllToAllFlow } from "../synthesize/alltoall/flow.ts";
import { type AllToAllOptions, allToAllOn, limitWithFlow } from "./all-to-all.ts";
import { type CompareOptions, compare as compareOn } from "./compare.ts";
import { type JointOptions, type JointResult, synthesizeJoint as synthesizeJointOn } from "./joint.ts";
import { type SearchHooks, type SearchOptions, type SearchReport, search as searchOn } from "./search/search.ts";
import { type SynthesizeResult, synthesize as synthesizeOn } from "./synthesize.ts";
import { type TrainingReport, trainingReport } from "./training/report.ts";
import { type TrainRequest, train as trainOn } from "./training/training.ts";

/** Returns the network that a preset expression, or the text of a topology file, describes. Throws InputError. */
export function topology(text: string, fileName = "topology"): Topology {
  return looksLikePreset(text) || !/[\n{[,;]/.test(text) ? presetTopology(text) : readTopology(text, fileName);
}

/** A request to the API: as for the pipeline, with the network, and an engine where the caller keeps one open. */
export type SynthesizeRequest = SynthesizeOptions &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine };
export type JointRequest = JointOptions &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine };
export type CompareRequest = CompareOptions &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine };

export type BoundRequest = CollectiveOptions &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine; readonly signal?: AbortSignal };
/** What no algorithm beats, and why; `foundBy`: in words, where that leaves open whether more can be proved. */
export type Limit = BoundReport & { readonly foundBy: string | null };

/** A step on a network. */
export type TrainStepRequest = TrainRequest &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine };

export type AllToAllRequest = AllToAllOptions &
  EngineOptions & { readonly topology: Topology | string; readonly engine?: Engine };
export type SearchRequest = SearchOptions & SearchHooks & EngineOptions & { readonly engine?: Engine };

const network = (given: Topology | string | undefined): Topology => {
  if (given === undefined) throw new InputError("topology", "a network or a preset, as in { topology }", given);
  return typeof given === "string" ? topology(given) : given;
};

/** Names of a request's properties; a request without types may have others. */
type Names<Request> = Readonly<Record<keyof Request, true>>;

const BOTH = {
  backend: true,
  chunks: true,
  collective: true,
  discretizationUs: true,
  engine: true,
  group: true,
  k: true,
  keepShare: true,
  nvls: true,
  offload: true,
  onProgress: true,
  outsiders: true,
  policy: true,
  repair: true,
  root: true,
  seed: true,
  signal: true,
  simulate: true,
  sketch: true,
  startWorker: true,
  switchDegree: true,
  switching: true,
  threads: true,
  timeLimitMs: true,
  topology: true,
  trials: true,
} as const;
const SYNTHESIZE: Names<SynthesizeRequest> = { ...BOTH, algorithm: true, sizeBytes: true };
const COMPARE: Names<CompareRequest> = {
  ...BOTH,
  algorithms: true,
  onLine: true,
  onRow: true,
  onSize: true,
  own: true,
  programs: true,
  sizesBytes: true,
  target: true,
};

const BOUND: Names<BoundRequest> = {
  backend: true,
  collective: true,
  chunks: true,
  engine: true,
  group: true,
  outsiders: true,
  root: true,
  signal: true,
  sizeBytes: true,
  startWorker: true,
  threads: true,
  topology: true,
};

/** Throws InputError for a request that is none, and for properties that mean nothing: misspelt ones would be ignored. */
function checkNames(request: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof request !== "object" || request === null)
    throw new InputError("the request", 'an object such as { topology: "mesh:4x4", collective: "allgather" }', request);
  for (const name of Object.keys(request)) {
    if (Object.hasOwn(names, name)) continue;
    const row: OptionRow | undefined = Object.hasOwn(ROWS, name) ? ROWS[name as OptionId] : undefined;
    throw unknownName("a property of the request", name, Object.keys(names), {
      meant: row?.property ?? closest(name, Object.keys(names)),
    });
  }
}

/** Returns the verbs that need an engine, for the platform whose `openEngine` is given. */
export function verbs(openEngine: (options?: EngineOptions) => Promise<Engine>) {
  async function withEngine<T>(
    request: EngineOptions & { engine?: Engine },
    work: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    if (request.engine !== undefined) return work(request.engine);
    const { backend, threads, startWorker } = request;
    const engine = await openEngine({ backend, threads, startWorker });
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  }
  return {
    /** Returns a verified, simulated and bounded schedule; see run/synthesize.ts. */
    async synthesize(request: SynthesizeRequest): Promise<SynthesizeResult> {
      checkNames(request, SYNTHESIZE);
      return withEngine(request, (engine) => synthesizeOn(engine, network(request.topology), request));
    },
    /** Returns one schedule of several collectives at once; see run/joint.ts. */
    synthesizeJoint: (request: JointRequest): Promise<JointResult> =>
      withEngine(request, (engine) => synthesizeJointOn(engine, network(request.topology), request)),
    /** Returns a row per size and algorithm; see run/compare.ts. */
    async compare(request: CompareRequest): Promise<Comparison> {
      checkNames(request, COMPARE);
      return withEngine(request, (engine) => compareOn(engine, network(request.topology), request));
    },
    /** Returns what a training step takes, with a row for each maker of collectives; see run/training/training.ts. */
    async train(request: TrainStepRequest): Promise<TrainingReport> {
      const on = network(request.topology);
      return withEngine(request, async (engine) =>
        trainingReport(request, on, await trainOn(engine, on, request), null),
      );
    },
    /** Returns what no algorithm beats, and why, without a schedule; see run/all-to-all.ts. */
    async bound(request: BoundRequest): Promise<Limit> {
      checkNames(request, BOUND);
      const { topology, collective } = problemOf(network(request.topology), request);
      return withEngine(request, async (engine) => {
        const { limit, foundBy } = await limitWithFlow(engine, topology, collective, request.signal);
        return { ...boundReport(topology, collective, limit), foundBy };
      });
    },
    /** Returns the rate of an all-to-all and the bound that proves it; see run/all-to-all.ts. */
    allToAll: (request: AllToAllRequest): Promise<AllToAllFlow> =>
      withEngine(request, (engine) => allToAllOn(engine, network(request.topology), request)),
    /** Returns the efficient networks of this many nodes and ports; see run/search/search.ts. */
    search: (request: SearchRequest): Promise<SearchReport> =>
      withEngine(request, (engine) => searchOn(engine, request, request)),
  };
}
