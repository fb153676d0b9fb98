import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import type { Options } from "../../../src/request/option-table.ts";
import { readPanes, shareOf, splitOf, writePanes } from "../../../src/web/parts/panes/layout.ts";
import { PLAN_FILES } from "../../../src/web/plan-protocol.ts";
import type { RequestName } from "../../../src/web/protocol.ts";
import { readAddress, writeAddress } from "../../../src/web/state/address.ts";
import { fingerprintOf, packFile, unpackFile } from "../../../src/web/state/address-file.ts";
import { fileWithin } from "../../../src/web/state/begin.ts";
import { FIRST_WORDS } from "../../../src/web/state/words.ts";
import { HANDLERS } from "../../../src/web/worker/handlers.ts";
import { failureOf } from "../../../src/web/worker/main.ts";
import { OWN_PLANS } from "../../import/mscclpp-json-plans.ts";
import { ringSchedule } from "../ring-schedule.ts";
import { ask, fileOf } from "../worker-asks.ts";
import { type FuzzTarget, LawBroken, same } from "./target.ts";

/** Readers of the app: its address, what stands within its page, and what page and worker say. */

function checkAddress(fragment: string): void {
  const address = readAddress(fragment);
  for (const complaint of address.complaints)
    if (/[\n\r]/.test(complaint)) throw new LawBroken(`a complaint of several lines: ${complaint}`);
  const { topology, file, options, view, choices, run } = address;
  const words = { ...FIRST_WORDS, topology: topology ?? "", options, choices, view: view ?? "network" };
  const written = writeAddress(words, file, run);
  const again = readAddress(written);
  same(
    written,
    writeAddress({ ...words, options: again.options, choices: again.choices }, again.file, again.run),
    "an address",
  );
  if (again.complaints.length > 0)
    throw new LawBroken(`an address that is written and complained of: ${again.complaints}`);
}

async function checkPackedFile(packed: string): Promise<void> {
  const mention = await unpackFile(packed);
  if (!("given" in mention)) return;
  const again = await unpackFile(await packFile(mention.given));
  const prints = await Promise.all(
    [mention, again].map(async (of) => ("given" in of ? await fingerprintOf(of.given.content) : of.fingerprint)),
  );
  same(prints[0] as string, prints[1] as string, "a packed file");
}

function checkInside(text: string): void {
  const scope = globalThis as { document?: unknown };
  const before = scope.document;
  scope.document = { getElementById: () => ({ textContent: text }) };
  try {
    fileWithin();
  } finally {
    scope.document = before;
  }
}

const PANES = [
  { name: "network", wide: 44, tall: 62 },
  { name: "timeline", wide: 56, tall: 60 },
];

function checkPanes(text: string): void {
  const state = readPanes(text, PANES);
  const written = writePanes(state);
  same(JSON.stringify(readPanes(written, PANES)), JSON.stringify(state), "the state of panes");
  const { now, least, most } = splitOf(shareOf(state, "wide", PANES[0]), shareOf(state, "wide", PANES[1]), 800, 120);
  if (!(least <= now && now <= most)) throw new LawBroken(`a split at ${now}, not in ${least} to ${most}`);
}

/** What of a request may be said in any words. */
interface Wish {
  readonly request?: unknown;
  readonly topology?: unknown;
  readonly file?: unknown;
  readonly name?: unknown;
  readonly options?: unknown;
  readonly network?: unknown;
  readonly to?: unknown;
  readonly sizes?: unknown;
  readonly forest?: unknown;
  readonly tree?: unknown;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Returns options as the page writes them: texts and truth values. */
function optionsOf(value: unknown): Options {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [name, typeof of === "boolean" ? of : textOf(of)]),
  );
}

/** Networks that the worker is asked for have so few digits in a row, and algorithms that solve are not asked. */
const isSmall = (topology: string): boolean => !/\d\d\d|[*^x].*[*^x].*[*^x]/.test(topology) && topology.length < 60;
const QUICK = ["tacos", "ring", "direct", "forestcoll", "dbt", "themis", "bfb", "nccl-rings", "c-cube"];

/** Asks the worker: a JSON object says what, and the request's form is that of the page's. */
async function checkRequest(text: string): Promise<void> {
  const wish = wishOf(text);
  const names = Object.keys(HANDLERS) as RequestName[];
  const request = names.find((name) => name === wish.request) ?? "open";
  const topology = textOf(wish.topology ?? "ring:4");
  if (!isSmall(topology)) throw new InputError("the topology", "a small one", topology);
  // names of files are the user's, and quoted whole
  const name = textOf(wish.name ?? "file")
    .replace(/[^\w.]/g, "")
    .slice(0, 40);
  const file = wish.file === undefined ? null : fileOf(name, textOf(wish.file));
  const given = file ?? fileOf("file", "");
  const options = optionsOf(wish.options);
  const network = { topology, file: request === "programTime" ? null : file, options: optionsOf(wish.network) };
  const algorithm = QUICK.find((name) => name === options["algorithm"]) ?? "ring";
  const make = { network, options: { ...options, algorithm, trials: "1", timeLimit: "50ms" } };
  const schedule = { id: `fuzzed ${text}`, file, wish: file === null ? make : null, us: null };
  const training = { network, model: file ?? "gpt2-small", options: { ...options, batch: "4", algorithms: "ring" } };
  const small = { ...options, batch: "4", seq: "8", passes: "1", algorithms: "ring", timeLimit: "50ms" };
  const planning = { network: { ...network, file: null }, model: given, options: small };
  const asks: { [Name in RequestName]: () => Promise<unknown> } = {
    // asks nothing that could be wrong, and measures for seconds
    kernels: async () => null,
    welcome: () => ask("welcome", {}),
    workloads: () => ask("workloads", { network }),
    train: () => ask("train", { wish: training }),
    trainingTimeline: () => ask("trainingTimeline", { wish: training, row: numberOf(wish.tree) }),
    trainingTrace: () => ask("trainingTrace", { wish: training, row: numberOf(wish.tree) }),
    plan: () => ask("plan", { wish: planning }),
    planTimeline: () => ask("planTimeline", { wish: planning }),
    planFile: () =>
      ask("planFile", { wish: planning, to: PLAN_FILES[numberOf(wish.tree) % PLAN_FILES.length] ?? "torch" }),
    network: () => ask("network", { wish: network }),
    open: () => ask("open", { file: given, options }),
    make: () => ask("make", { wish: make }),
    file: () => ask("file", { schedule }),
    timeline: () => ask("timeline", { schedule }),
    hops: () => ask("hops", { schedule }),
    loads: () => ask("loads", { schedule }),
    trees: () => ask("trees", { schedule }),
    tree: () => ask("tree", { schedule, forest: numberOf(wish.forest), tree: numberOf(wish.tree) }),
    compare: () =>
      ask("compare", {
        wish: { ...make, options: { ...make.options, algorithms: algorithm } },
        sizes: [textOf(wish.sizes ?? "1KiB")],
      }),
    programTime: () => ask("programTime", { file: given, network, options }),
    export: () => {
      const to = textOf(wish.to);
      if (file !== null && textOf(wish.name) === "program")
        return ask("export", { subject: { kind: "program", file }, to, options });
      if (wish.forest === undefined) return ask("export", { subject: { kind: "network", wish: network }, to, options });
      return ask("export", { subject: { kind: "schedule", schedule }, to, options });
    },
  };
  try {
    await asks[request]();
  } catch (error) {
    const { kind, message } = failureOf(error);
    if (kind === "internal" || kind === "memory") throw error;
    if (error instanceof InputError || error instanceof InfeasibleError) throw error;
    throw new LawBroken(`${kind}: ${message}`);
  }
}

function wishOf(text: string): Wish {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Wish) : {};
  } catch {
    throw new InputError("a request", "JSON", text);
  }
}

const REQUESTS: readonly object[] = [
  { request: "welcome" },
  { request: "network", topology: "dgx-a100:2", network: { without: "0,1", degrade: "gpu4=0.5" } },
  {
    request: "network",
    file: "0,1,50,0.5\n",
    name: "n.csv",
    network: { gpu: "a100", assume: "nvlink=25GB/s", nodes: "2" },
  },
  {
    request: "make",
    topology: "mesh:2x2",
    options: { collective: "allreduce", size: "1MiB", algorithm: "tacos", chunks: "2" },
  },
  {
    request: "make",
    topology: "switch:4",
    options: { collective: "broadcast", root: "1", group: "0,1,2", algorithm: "forestcoll" },
  },
  { request: "timeline", topology: "ring:3", options: { collective: "allgather", algorithm: "tacos" } },
  { request: "hops", topology: "ring:3", options: { collective: "reducescatter", algorithm: "direct" } },
  { request: "loads", topology: "ring:3", options: { collective: "allreduce", algorithm: "forestcoll" } },
  { request: "trees", topology: "switch:4", options: { collective: "allreduce", algorithm: "forestcoll" } },
  {
    request: "tree",
    topology: "switch:4",
    options: { collective: "allgather", algorithm: "forestcoll" },
    forest: 0,
    tree: 1,
  },
  {
    request: "file",
    topology: "ring:4",
    options: { collective: "alltoall", algorithm: "direct", switching: "store-and-forward" },
  },
  { request: "compare", topology: "ring:4", options: { collective: "allgather" }, sizes: "4KiB" },
  { request: "export", topology: "ring:3", to: "dot" },
  {
    request: "export",
    topology: "ring:3",
    to: "msccl-xml",
    forest: 0,
    options: { collective: "allgather", dialect: "rccl", instances: "2" },
  },
  { request: "export", topology: "ring:3", to: "svg", forest: 0, options: { collective: "allgather", view: "time" } },
];

export const pageTargets = (): FuzzTarget[] => [
  {
    name: "address",
    seeds: () => [
      "#topology=mesh:4x4&collective=allgather&view=time",
      "topology=dgx-a100:2&size=256MiB&algorithm=auto&no-nvls&run=1&chunks=auto&root=gpu0&without=gpu1",
      "file=a%20b.json~kept.4f2-9a0c3d17&view=compare&sizes=1KiB..1GiB*16&measure=busbw&matrix=links&offload",
      "open=x.json&collective=custom&group=0,1;2,3&degrade=0-1=0.5&assume=nvlink=25GB/s&time-limit=1s",
    ],
    check: checkAddress,
  },
  {
    name: "address-file",
    seeds: () => ["net.csv~S0wuSU3MK-ECAA", "a~b.json~q1YqSy0qzszPU7JSAgA", "x~kept.4f2-9a0c3d17", "e~AwA"],
    check: checkPackedFile,
  },
  {
    name: "page-inside",
    seeds: () => ['{"name":"a.json","text":"{}"}', "null", ' {"name": 1}'],
    check: checkInside,
  },
  {
    name: "panes",
    seeds: () => [
      '{"shares":{"wide network":30,"tall timeline":55.5},"folded":["timeline"],"maximised":"network"}',
      "{}",
    ],
    check: checkPanes,
  },
  {
    name: "worker",
    seeds: () =>
      [
        ...REQUESTS,
        { request: "open", name: "s.json", file: scheduleToJson(ringSchedule()) },
        { request: "open", name: "p.json", file: JSON.stringify(Object.values(OWN_PLANS)[0]?.()) },
        {
          request: "programTime",
          topology: "switch:4",
          file: JSON.stringify(Object.values(OWN_PLANS)[0]?.()),
          options: { size: "1MiB" },
        },
      ].map((wish) => JSON.stringify(wish)),
    check: checkRequest,
  },
];
