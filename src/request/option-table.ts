import { InputError, type Mistake } from "../base/errors.ts";
import { callOptions, optionName, type Place } from "../base/option-names.ts";
import { PS_PER_US, parseBandwidth, parseSize, parseTime } from "../model/numbers/units.ts";
import type { SwitchDegree } from "../model/routes/switch-degrees.ts";
import { didYouMean, spelt } from "../model/topology/closest.ts";
import { LAB_ROWS } from "./lab-rows.ts";
import type { OptionRow, Part } from "./option-row.ts";
import { PLAN_ROWS } from "./plan-rows.ts";
import { PROBE_ROWS } from "./probe-rows.ts";
import { RESULTS_ROWS } from "./sweep/results-rows.ts";
import { SWEEP_ROWS } from "./sweep/sweep-rows.ts";
import { TRAINING_ROWS } from "./training-rows.ts";
import {
  degradations,
  integerIn,
  listOf,
  namedCollective,
  oneOf,
  shareOf,
  switchDegree,
  wholeNumber,
} from "./values.ts";

/**
 * Every option once. From this table are made: parsing and help of the command line, the page's form and address, the checks of
 * the API's values, the names of options in errors, and, with what makers say of themselves, the refusals of those that say nothing.
 */

/** The value of --chunks, --k and --instances that leaves the number to trial. */
const BY_TRIAL = "auto";

/** The value of --k that asks for the optimum, however many copies it takes. */
const EXACT = "exact";

const MOST_SEED = 2 ** 32 - 1;
/** Most copies of trees per root that can be asked for. */
const MOST_COPIES = 1e6;

const whole =
  (low: number) =>
  (text: string, place: Place): number =>
    wholeNumber(text, place, low);
const wholeOr =
  <Word extends string>(...words: readonly Word[]) =>
  (text: string, place: Place): number | Word => {
    if (!/^[a-z]/i.test(text)) return wholeNumber(text, place, 1);
    const word = spelt(text, words);
    if (word !== undefined) return word;
    throw new InputError(place, `a whole number, 1 or more, or ${words.join(" or ")}${didYouMean(text, words)}`, text);
  };
const among = <Word extends string>(...words: readonly Word[]) =>
  Object.assign((text: string, place: Place): Word => oneOf(text, words, place), { words });
const isOneOf =
  (words: readonly unknown[], expected: string) =>
  (value: unknown, place: Place): void => {
    if (!words.includes(value)) throw new InputError(place, expected, value).as("unknown-name");
  };
const listed =
  (what: string) =>
  (text: string, place: Place): string[] =>
    listOf(text, place, what);
const milliseconds = (text: string, place: Place): number => parseTime(text, place, "s") / PS_PER_US / 1000;

const SWITCHING = ["cut-through", "store-and-forward"] as const;

export const TABLE = {
  // how files of networks are read
  gpu: {
    part: "reading",
    value: "<name>",
    help: "model of the GPUs where a file does not tell it: a100, h100, mi250, ...",
    field: { label: "Model of the GPUs", placeholder: "a100, h100, mi250, ..." },
  },
  assume: {
    part: "reading",
    value: "<figures>",
    help: "figures that a file lacks: nvlink=25GB/s, xgmi, pcie, socket, nic, leaf, spine, latency=1us",
    repeats: true,
    field: { label: "Figures that it lacks", placeholder: "nic=200Gbps, latency=1us" },
  },
  nodes: {
    part: "reading",
    short: "n",
    value: "<n>",
    help: "number of boxes of a TACCL topology or of an nvidia-smi matrix",
    parse: whole(1),
    field: { label: "Number of boxes", placeholder: "default: 1" },
  },
  profileSize: {
    part: "reading",
    property: "profileSizeBytes",
    value: "<size>",
    help: "size that the costs of a TACCL file are for (its KB and MB are 2^10 and 2^20 bytes)",
    field: { label: "Size of a TACCL profile", placeholder: "default: 1MB" },
  },
  profileScale: {
    part: "reading",
    value: "<n>",
    help: "the costs of a TACCL file are in 1/n us",
    parse: whole(1),
    field: { label: "Costs are in 1/n us", placeholder: "default: 1" },
  },
  // what of a network is taken
  without: {
    part: "network",
    short: "w",
    value: "<ids>",
    help: "leave out NPUs, switches, links and boxes: 7,sw0,3>4,5-6,box0",
    repeats: true,
    parse: listed("names of NPUs, switches and links"),
  },
  withoutEach: {
    part: "command",
    value: "<ids>",
    help: "what each of these failures alone would cost, the worst first: NPUs, switches and links as for --without, what fails together joined by + (3-rail3+7,5), or all links, nics, switches, npus or boxes; pairs:nics, triples:links: all that can fail together",
    repeats: true,
    parse: listed("names of NPUs, switches and links"),
  },
  degrade: {
    part: "network",
    value: "<factors>",
    help: "slow links down: a-b=0.5 (or 50%, 1/2) keeps half of its bandwidth; a node stands for its links",
    repeats: true,
    parse: degradations,
  },
  // what is communicated, and how a schedule of it is made
  collective: {
    part: "collective",
    short: "c",
    value: "<name>",
    help: "allgather, allreduce, ... (`banyan list collectives`)",
    parse: (text: string, place: Place) => namedCollective(text, place),
  },
  size: {
    part: "collective",
    short: "s",
    property: "sizeBytes",
    value: "<size>",
    help: "nccl-tests size: 1GiB, 64MB, 4096; default 1GiB",
    parse: parseSize,
  },
  algorithm: {
    part: "making",
    short: "a",
    value: "<name>",
    help: "tacos (default), forestcoll, themis, ring, ... (`banyan list algorithms`), or auto: the fastest of those that apply",
  },
  chunks: {
    part: "collective",
    value: "<n>",
    help: "chunks per NPU (of the whole buffer for broadcast and reduce), default 1, or the algorithm's own choice; trees: pieces of what each carries, default auto; synth and compare: auto tries 1, 2, 4, ...",
    parse: wholeOr(BY_TRIAL),
    field: { label: "Chunks", placeholder: "default: 1", hint: 'Per NPU; "auto" tries 1, 2, 4, ...' },
  },
  root: {
    part: "collective",
    short: "r",
    value: "<npu>",
    help: "root of broadcast, reduce, gather and scatter, default the first of the group",
    field: { label: "Root", placeholder: "default: {first}" },
  },
  group: {
    part: "collective",
    short: "g",
    value: "<ids>",
    help: "only these NPUs take part, in this order; several groups: a,b;c,d",
    field: {
      label: "Group",
      placeholder: "all; or {first},{second},...",
      hint: "Only these NPUs take part, in this order; several groups: a,b;c,d",
    },
  },
  outsiders: {
    part: "collective",
    value: "<what>",
    help: "NPUs outside the groups relay chunks (relay, the default) or are left out (none)",
    parse: among("relay", "none"),
    field: {
      label: "NPUs outside the group",
      choices: [
        ["", "relay: they may pass chunks on"],
        ["none", "none: they are left out"],
      ],
    },
  },
  seed: {
    part: "making",
    value: "<n>",
    help: "seed of the random choices, default 1",
    parse: whole(0),
    check: integerIn(0, MOST_SEED, "an integer in 0 .. 2^32 - 1"),
    field: { label: "Seed", placeholder: "default: 1" },
  },
  trials: {
    part: "making",
    own: "handed on",
    value: "<n>",
    help: "most trials per phase (an all-reduce has two, and 32 tries a trial to overlap them); default min(64, 1e7 / transfers); ends early at the bound",
    parse: whole(1),
    check: integerIn(1, 1e6, "an integer in 1 .. 1e6"),
    field: { label: "Trials", placeholder: "default: up to 64" },
  },
  policy: {
    part: "making",
    value: "<name>",
    help: "only this policy of the algorithm; expand: expansion or bfb",
    field: { label: "Policy", choices: null },
  },
  switchDegree: {
    part: "making",
    own: "handed on",
    value: "<d>",
    help: "through switches: ports (matched slot by slot), a degree of unwinding, or degrees by name (nvsw*=7,rail*=1; others 1); default: what is best",
    parse: switchDegree,
    check(degree: SwitchDegree, place: Place) {
      const each = typeof degree === "object" && degree !== null ? Object.values(degree) : [degree];
      for (const one of each)
        if (one !== "ports" || typeof degree === "object")
          integerIn(1, Number.MAX_SAFE_INTEGER, 'a positive integer, "ports" or { name: degree }')(one, place);
    },
    field: {
      label: "Through switches",
      placeholder: "default: what is best",
      hint: '"ports" (matched slot by slot), a degree of unwinding, or degrees by name: nvsw*=7,rail*=1',
    },
  },
  k: {
    part: "making",
    short: "k",
    own: "handed on",
    value: "<n>",
    help: "trees: copies per root; default: as many as the optimum needs, or of over 1,000 fewer that come within a percent of it; exact: the optimum, however many; auto: what is fastest at this size",
    parse: wholeOr(EXACT, BY_TRIAL),
    check(k: number | "auto" | "exact", place: Place) {
      const expected = `trees per root, an integer in 1 .. ${MOST_COPIES}, "exact" or "auto"`;
      if (k !== BY_TRIAL && k !== EXACT) integerIn(1, MOST_COPIES, expected)(k, place);
    },
    field: {
      label: "Trees per root",
      placeholder: "default: as the optimum needs",
      hint: 'A number, "exact": the optimum, however many, or "auto": what is fastest at this size',
    },
  },
  offload: {
    part: "making",
    own: "handed on",
    help: "phases (themis, blueconnect) and trees (forestcoll): switches that can sum and duplicate do so",
    field: { label: "Switches sum and copy in phases" },
  },
  nvls: {
    part: "making",
    own: "handed on",
    flag: "no-nvls",
    sets: false,
    help: "leave switches that duplicate and reduce out: of what trees report, and of MSCCL++ plans",
    field: { label: "Leave NVLS out of trees' reports" },
  },
  timeLimit: {
    part: "making",
    own: "handed on",
    property: "timeLimitMs",
    value: "<time>",
    help: "auto: try no further algorithm after it, default 10s; taccl, tacos-ilp, sccl: how long they solve, default 60s",
    parse: milliseconds,
    check(ms: number, place: Place) {
      if (!(ms >= 0)) throw new InputError(place, "a time", ms);
    },
    field: { label: "Time limit", placeholder: "default: 10s with auto, else 60s" },
  },
  discretization: {
    part: "making",
    own: "named only",
    property: "discretizationUs",
    value: "<time>",
    help: "tacos-ilp: length of a time slot, to which times over links are rounded; default: exact times where these are few",
    parse: (text: string, place: Place) => parseTime(text, place) / PS_PER_US,
    check(us: number, place: Place) {
      if (!(us > 0 && us < Number.POSITIVE_INFINITY)) throw new InputError(place, "a time above 0", us);
    },
  },
  sketch: {
    part: "making",
    own: "handed on",
    value: "<file>",
    help: "taccl: what the schedule may use, a TACCL sketch; default: several are proposed and tried",
  },
  repair: {
    part: "making",
    own: "named only",
    value: "<file>",
    help: "a schedule made before something failed: the report compares it with the new one; trees that did not use what failed are kept; collective, size and algorithm are those of the file unless given",
  },
  keepFrom: {
    part: "making",
    own: "named only",
    property: "keepShare",
    flag: "keep-from",
    value: "<share>",
    help: "with --repair: trees are kept where they reach this share of the new optimum, default 99%",
    parse: shareOf,
    check(share: number, place: Place) {
      if (!(share >= 0 && share <= 1)) throw new InputError(place, "a share from 0 to 1", share);
    },
  },
  simulate: { part: "making", help: "simulate also above 1e8 transfers" },
  switching: {
    part: "making",
    value: "<mode>",
    help: "cut-through or store-and-forward, default: by the schedule's routes",
    parse: among(...SWITCHING),
    check: isOneOf(SWITCHING, '"cut-through" or "store-and-forward"'),
    field: {
      label: "Simulated switching",
      choices: [
        ["", "by the schedule's routes"],
        ["cut-through", "cut-through"],
        ["store-and-forward", "store-and-forward"],
      ],
    },
  },
  // how a program is made
  dialect: {
    part: "program",
    value: "<name>",
    help: "msccl-xml: msccl, azure (default) or rccl",
    parse: among("msccl", "azure", "rccl"),
    field: {
      label: "XML dialect",
      choices: [
        ["azure", ""],
        ["msccl", ""],
        ["rccl", ""],
      ],
    },
  },
  protocol: {
    part: "program",
    value: "<name>",
    help: "programs: Simple, LL or LL128; default: the fastest in the simulation of programs",
    parse: among("Simple", "LL", "LL128"),
    field: {
      label: "Protocol",
      choices: [
        ["", "the fastest"],
        ["Simple", ""],
        ["LL", ""],
        ["LL128", ""],
      ],
    },
  },
  placement: {
    part: "program",
    value: "<what>",
    help: "programs: in place (in), out of place (out), or fit for either (both)",
    parse: among("in", "out", "both"),
    field: {
      label: "Placement",
      choices: [
        ["in", ""],
        ["out", ""],
        ["both", ""],
      ],
    },
  },
  instances: {
    part: "program",
    value: "<n>",
    help: "programs: cut every chunk in n, each with its own thread blocks and channels; auto: as many as are fastest if a thread block moves no more than NCCL counts for one; default: what is fastest without that limit",
    parse: wholeOr(BY_TRIAL),
    field: {
      label: "Instances",
      placeholder: "what is fastest",
      hint: 'Copies of a program side by side; "auto" counts with what a thread block can move',
    },
  },
  parts: {
    part: "program",
    value: "<n>",
    help: "msccl-xml, mscclpp-json and mpi of trees: parts into which each tree's data is cut, 1 to 64; default: what is fastest",
    parse: whole(1),
    field: { label: "Parts of a tree", placeholder: "what is fastest" },
  },
  threadBlocks: {
    part: "program",
    value: "<n>",
    help: "msccl-xml of trees: blocks on a GPU before trees share them, default 100 (an H100: 132)",
    parse: whole(1),
    field: { label: "Thread blocks", placeholder: "100" },
  },
  hosts: {
    part: "program",
    value: "<hosts>",
    help: "mpi: the hosts that NPUs 0, 1, 2, ... run on, with their numbers of processes: node[0-3]:8,big:16; default: NPU r is process r",
    field: { label: "Hosts of the processes", placeholder: "node[0-3]:8" },
  },
  minBytes: {
    part: "program",
    value: "<size>",
    help: "programs: smallest size that the runtime may use it for",
    parse: (text: string, place: Place) => (text === "0" ? 0 : parseSize(text, place)),
    field: { label: "Smallest size", placeholder: "0" },
  },
  maxBytes: {
    part: "program",
    value: "<size>",
    help: "programs: greatest size that the runtime may use it for",
    parse: parseSize,
    field: { label: "Largest size", placeholder: "any" },
  },
  view: { part: "program", value: "<name>", help: "svg: topology, trees, links (how busy) or time" },
  // what single commands do
  json: { part: "command", help: "print one JSON object on standard output" },
  quiet: { part: "command", short: "q", help: "no progress, no notes, and no report if a file is written" },
  backend: {
    part: "command",
    value: "<name>",
    help: "native, wasm or js; default: the first that loads (BANYAN_BACKEND)",
  },
  threads: {
    part: "command",
    value: "<n>",
    help: "worker threads for large work, default: every core, 0: none beside; results do not depend on it",
    parse: whole(0),
  },
  man: { part: "command", help: "the manual page: `banyan help --man | man -l -`" },
  debug: { part: "command", help: "show where an error came from" },
  details: {
    part: "command",
    help: "also figures of the papers' models: planned times (link-busy), their bound, TACOS's ideal",
  },
  output: { part: "command", short: "o", isCalledShort: true, value: "<file>", help: "write it to a file" },
  collectives: {
    part: "command",
    value: "<file>",
    help: "several at once: a JSON list of kind, size, chunks, root, group",
  },
  topology: { part: "command", value: "<TOPO>", help: "refuse a schedule for another network" },
  target: {
    part: "command",
    value: "<runtime>",
    help: "programs: also hold it against the limits of msccl, azure, rccl or mscclpp",
  },
  record: {
    part: "command",
    value: "<file>",
    help: "where it is correct, write down what was verified: kind, bytes, hashes, time, limit",
  },
  recordOf: {
    part: "command",
    value: "<file>",
    help: "is it still what this record says? exit code 1 and every difference where not",
  },
  independent: {
    part: "command",
    help: "judge a JSON schedule and what it claims by the short program that shares nothing with the rest (FORMATS.md)",
  },
  reference: {
    part: "command",
    help: "the published analytical model: store-and-forward in whole nanoseconds, no planned order on links",
  },
  trace: { part: "command", value: "<file>", help: "write a Chrome/Perfetto trace (ui.perfetto.dev)" },
  to: {
    part: "command",
    short: "t",
    value: "<format>",
    help: "json, bys, msccl-xml, mscclpp-json, html, report, svg, ...: `banyan list formats`",
  },
  sizes: {
    part: "command",
    property: "sizesBytes",
    value: "<list>",
    help: "nccl-tests sizes, default 1KiB,1MiB,1GiB",
    parse: (text: string, place: Place) =>
      listOf(text, place, "sizes such as 1MiB").map((size) => parseSize(size, place)),
  },
  dtype: { part: "command", value: "<type>", help: "type of the elements: f16, bf16, f32 (default), i32, ..." },
  log: {
    part: "command",
    value: "<file>",
    help: "a debug log of NCCL or RCCL: was the program selected, and if not, why?",
  },
  programs: {
    part: "command",
    help: "also the time of each line's fastest program, simulated on the same network: MSCCL XML or an MSCCL++ plan; above 64 NPUs a plan only where switches can sum, else XML",
  },
  algorithms: {
    part: "command",
    value: "<list>",
    help: "default: all that make the collective and apply to the network",
    parse: listed("names"),
  },
  with: {
    part: "command",
    value: "<files>",
    help: "beside the algorithms: schedules, lists of sends (CSV, JSON) and programs (MSCCL XML, MSCCL++ plans) of one's own",
    repeats: true,
    parse: listed("files"),
  },
  format: {
    part: "command",
    short: "f",
    value: "<name>",
    help: "table (default), csv, json, jsonl (a line as each is finished), nccl-tests (its columns), nccl-tests-json (its -J), svg (a plot); which of its own algorithms a library is to use: tuner (NCCL's plugin), tuner-ncclx, tuner-ncclx-json, tuner-openmpi (rules for 4 and 5), tuner-openmpi-json (6), tuner-mpich, tuner-ucc",
  },
  platform: { part: "command", value: "<name>", help: "rows of this platform, of a table of measured points" },
  regimes: {
    part: "command",
    value: "<n>",
    help: "also split the sizes into this many ranges, each with a line of its own, default 1",
    parse: whole(1),
  },
  failures: {
    part: "command",
    value: "<list>",
    help: "what may fail, each alone: links, nics, switches, npus, boxes, pairs:nics, random:2:links:1000 (with :SEED), and names, with + between what fails together (3-rail3+7); default links,switches",
    repeats: true,
    parse: listed("failures"),
  },
  on: {
    part: "command",
    value: "<ids>",
    help: "what has failed already: each of --failures comes on top of it, and keeps what it can of the schedule for that",
    repeats: true,
    parse: listed("names of NPUs, switches and links"),
  },
  failed: {
    part: "command",
    value: "<ids>",
    help: "what failed: 0-rail0, or several, in any order: 0-rail0,3-rail2",
    repeats: true,
    parse: listed("names of NPUs, switches and links"),
  },
  degree: {
    part: "command",
    short: "d",
    value: "<d>",
    help: "links that leave each node, and as many enter it, 1 to 128",
    parse: whole(1),
  },
  bidirectional: { part: "command", help: "only networks whose links come in opposite pairs" },
  alpha: {
    part: "command",
    property: "alphaPs",
    value: "<time>",
    help: "latency of a comm step, default 10us",
    parse: parseTime,
  },
  bandwidth: {
    part: "command",
    property: "bytesPerSecond",
    value: "<rate>",
    help: "of all links of a node together, default 100Gbps",
    parse: parseBandwidth,
  },
  verify: {
    part: "command",
    help: "make and judge the schedule of every network, and compare it with what was predicted",
  },
  alltoall: { part: "command", help: "also find how fast an all-to-all can be on every network" },
  all: {
    part: "command",
    help: "the networks of all sizes up to --max-nodes for all --degrees, kept for later searches",
  },
  maxNodes: { part: "command", value: "<n>", help: "with --all, default 2000", parse: whole(2) },
  degrees: { part: "command", value: "<list>", help: "with --all, default 2,4,8,16", parse: listed("whole numbers") },
  cache: {
    part: "command",
    flag: "no-cache",
    sets: false,
    help: "neither use nor keep what searches found (BANYAN_CACHE_DIR, XDG_CACHE_HOME)",
  },
  svg: { part: "command", value: "<file>", help: "write a plot of the networks" },
  port: {
    part: "command",
    value: "<n>",
    help: "port, 0 for any that is free; default: 8420, or the next that is free",
    parse: whole(0),
  },
  host: {
    part: "command",
    value: "<address>",
    help: "address to listen on, default 127.0.0.1: this machine only",
  },
  ...TRAINING_ROWS,
  ...PLAN_ROWS,
  ...SWEEP_ROWS,
  ...RESULTS_ROWS,
  ...LAB_ROWS,
  ...PROBE_ROWS,
} as const satisfies Readonly<Record<string, OptionRow>>;

export type OptionId = keyof typeof TABLE;
type ValueOf<Id extends OptionId> = (typeof TABLE)[Id] extends { readonly parse: (...args: never[]) => infer Value }
  ? Value
  : string;

export const ROWS: Readonly<Record<OptionId, OptionRow>> = TABLE;
const IDS = Object.keys(TABLE) as OptionId[];
/** Options that say what a network's file leaves open. */
export const READING_OPTIONS: readonly OptionId[] = IDS.filter((id) => ROWS[id].part === "reading");
/** Options that say what a network is, beside its name. */
export const NETWORK_OPTIONS: readonly OptionId[] = [
  ...IDS.filter((id) => ROWS[id].part === "network"),
  ...READING_OPTIONS,
];
/** Options that say how a schedule of a collective is made; they mean nothing beside one that is there. */
export const MAKING_OPTIONS: readonly OptionId[] = IDS.filter(
  (id) => ["collective", "making"].includes(ROWS[id].part) && id !== "collective" && id !== "nvls",
);
/** Options of schedules that the page asks for; the first three have fields of their own making. */
export const PAGE_OPTIONS: readonly OptionId[] = IDS.filter(
  (id) =>
    ["collective", "size", "algorithm"].includes(id) ||
    (["collective", "making"].includes(ROWS[id].part) && ROWS[id].field !== undefined),
);
/** Options that only some makers take. */
export const OWN_OPTIONS: readonly OptionId[] = IDS.filter((id) => ROWS[id].own !== undefined);

/** Returns the options of some parts, in the order of the table. */
export const optionsOf = (...parts: readonly Part[]): OptionId[] => IDS.filter((id) => parts.includes(ROWS[id].part));

/** Options as they were written: texts by their names in the table, and true or false for those without a value. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** Returns the property of the API's requests that an option is. */
export const propertyOf = (id: OptionId): string => ROWS[id].property ?? id;

/** Returns an option as the command line writes it: "--time-limit". */
export function flagOf(id: string): string {
  const { flag, short, isCalledShort } = ROWS[id as OptionId] ?? {};
  if (isCalledShort) return `-${short}`;
  return `--${flag ?? id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const FLAGS: ReadonlyMap<string, string> = new Map([
  ...IDS.map((id) => [propertyOf(id), flagOf(id)] as const),
  // properties that several options make, or that are an option's part
  ["latencyPs", `${flagOf("assume")} latency`],
  ["bandwidth", flagOf("assume")],
]);

/** Returns the name on the command line of the option that a property of the API is. */
export const flagOfProperty = (property: string): string => FLAGS.get(property) ?? `--${property}`;

/** Returns the flag of the field in which a property is said: "--assume" for latencyPs. */
export const flagOfField = (property: string): string => flagOfProperty(property).split(" ", 1)[0] as string;

/** Calls options by their names on the command line from now on, as it and the page do; returns what ends that. */
export const callOptionsByFlags = (): (() => void) => callOptions(flagOfProperty);

/** Returns the name of an option as the place of a mistake. */
export const placeOf = (id: OptionId) => optionName(propertyOf(id));

/** Returns the value that the text of an option stands for; undefined where it is not given. Throws InputError. */
export function optionValue<Id extends OptionId>(options: Options, id: Id): ValueOf<Id> | undefined {
  const text = options[id];
  if (typeof text !== "string") return undefined;
  const { parse } = ROWS[id];
  return (parse === undefined ? text : parse(text, placeOf(id))) as ValueOf<Id>;
}

/** Returns the text of an option; undefined where it is not given. */
export function textOf(options: Options, id: OptionId): string | undefined {
  const value = options[id];
  return typeof value === "string" ? value : undefined;
}

/** Returns the text of an option as one of some words; undefined where it is not given. Throws InputError. */
export function wordOf<Word extends string>(options: Options, id: OptionId, words: readonly Word[]): Word | undefined {
  const text = textOf(options, id);
  return text === undefined ? undefined : oneOf(text, words, placeOf(id));
}

/** Returns whether a value says something: an option without a value says what it sets, or nothing. */
export const isSaid = ({ value, sets = true }: OptionRow, given: unknown): boolean =>
  value === undefined ? given === sets : given !== undefined;

/** Returns what options of these parts say, as the command line takes it: "--collective allgather --size 1MiB". */
export const saidText = (options: Options, ...parts: readonly Part[]): string =>
  optionsOf(...parts)
    .filter((id) => isSaid(ROWS[id], options[id]))
    .map((id) => (typeof options[id] === "string" ? `${flagOf(id)} ${options[id]}` : flagOf(id)))
    .join(" ");

/**
 * Returns what options say, by the properties of the API's requests; those that are not given are absent. Throws InputError.
 */
export function requestOf(options: Options, ids: readonly OptionId[]): Readonly<Record<string, unknown>> {
  const said: Record<string, unknown> = {};
  for (const id of ids) {
    const given = ROWS[id].value === undefined ? options[id] : optionValue(options, id);
    if (isSaid(ROWS[id], given)) said[propertyOf(id)] = given;
  }
  return said;
}

/** Throws InputError for the first value of a request that is none of its option's. */
export function checkRequest(request: object): void {
  for (const id of IDS) {
    const { check } = ROWS[id];
    const value = (request as Record<string, unknown>)[propertyOf(id)];
    if (check !== undefined && value !== undefined) check(value as never, placeOf(id));
  }
}

/** Throws InputError for the first of the options that is given; `expected` says what it would be for, or beside what. */
export function refuseOptions(
  options: Options,
  ids: readonly OptionId[],
  expected: string,
  mistake: Mistake = "not-together",
): void {
  for (const id of ids) {
    const value = options[id];
    if (value !== undefined) throw new InputError(placeOf(id), expected, value).as(mistake);
  }
}
