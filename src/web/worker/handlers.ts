import { InfeasibleError, InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { visible } from "../../base/visible.ts";
import type { Engine } from "../../engine/types.ts";
import { explainProgram } from "../../explain/program.ts";
import { fullestLinks } from "../../explain/trees.ts";
import { NETWORK_FORMATS } from "../../import/networks/network-formats.ts";
import {
  busFactor,
  COLLECTIVE_KINDS,
  type Collective,
  collectiveName,
  hasRoot,
  membersOf,
  type Placement,
} from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { formatSize, PS_PER_US, parseSize } from "../../model/numbers/units.ts";
import { PRESETS } from "../../model/presets/preset.ts";
import type { Program } from "../../model/program/program.ts";
import { parseGroups } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { type Forest, isTreeFlow, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { count, gbpsText } from "../../report/amounts.ts";
import { COMPARE_TARGETS, type Comparison } from "../../report/comparison.ts";
import { bandwidth } from "../../report/result.ts";
import { membershipOf, synthesisOptions } from "../../request/from-texts.ts";
import { type Options, OWN_OPTIONS, optionValue, textOf, wordOf } from "../../request/option-table.ts";
import { compare as compareOn } from "../../run/compare.ts";
import { exportInMemory } from "../../run/export/in-memory.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { ALGORITHMS, algorithmNamed } from "../../synthesize/catalog.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { KEPT } from "../../verify/violation.ts";
import type {
  Answer,
  Ask,
  HopsView,
  MakeWish,
  Opened,
  Refusal,
  RequestName,
  ScheduleRef,
  TreesView,
  TreeView,
  Welcome,
  WrittenSchedule,
} from "../protocol.ts";
import { exportSubject, exportsOf } from "./export.ts";
import { fileNameFor, formatFor, subjectOf } from "./file-format.ts";
import { type GivenSchedule, programIn, readGiven } from "./given-subject.ts";
import { linkWires } from "./link-wires.ts";
import { loadsView } from "./loads.ts";
import { make } from "./make.ts";
import { type Moves, movesOf } from "./moves.ts";
import { network } from "./network-answer.ts";
import { networkView } from "./network-view.ts";
import { networkOf } from "./networks.ts";
import type { Tools } from "./request-context.ts";
import { type KnownSchedule, keep } from "./schedule-cache.ts";
import { judged, scheduleOfReference } from "./schedule-of-reference.ts";
import { scheduleView } from "./schedule-view.ts";
import { timelineView } from "./timeline.ts";
import { violationTexts } from "./violation-texts.ts";

/** This many violations of a program are listed. */
const MOST_TOLD = 50;

/** Answers "open": what a file is, read, and judged where it can be. Throws the reader's InputError. */
async function open({ file, options, wish }: Ask<"open">, tools: Tools): Promise<Opened> {
  tools.progress({ what: `reading ${file.name}` });
  const read = await readGiven(file, options, wish ?? null);
  if (read.kind === "network") return { kind: "network", format: read.format, network: networkView(read.topology) };
  if (read.kind === "program") return openedProgram(file.name, read.program, tools);
  const started = performance.now();
  const { violations, ...kept } = judged(read, file.name, tools);
  const { sends } = read;
  const ref = { id: keep(kept), file, wish: null, us: null, ...(sends !== undefined && wish && { sendsFor: wish }) };
  return {
    kind: "schedule",
    network: networkView(read.schedule.topology),
    schedule: { ...scheduleView(ref, kept, performance.now() - started), violations },
    asked: askedBy(read),
    ...(sends === undefined ? {} : { sends: { notes: sends.notes, namesNetwork: sends.table.topology !== undefined } }),
  };
}

function openedProgram(name: string, program: Program, { progress }: Tools): Opened {
  const verdict = verifyProgram(program, {
    limit: KEPT,
    onProgress: (done, total) => progress({ what: "verifying", done, total, unit: "GPUs" }),
  });
  return {
    kind: "program",
    name,
    explanation: explainProgram(program).map(visible).join("\n"),
    rankCount: program.rankCount,
    verified: verdict.violationCount === 0,
    violationCount: verdict.violationCount,
    violations: verdict.violations.slice(0, MOST_TOLD).map(({ message }) => message),
    warnings: violationTexts({
      violations: verdict.warnings.slice(0, MOST_TOLD),
      violationCount: verdict.warnings.length,
    }),
  };
}

/** What belonged to the algorithm that was asked for before. */
const WITHOUT_OPTIONS: Options = Object.fromEntries(["policy", ...OWN_OPTIONS].map((id) => [id, undefined]));

/** Returns a size as an option: "256MiB", in bytes where no unit fits. */
function sizeOption(bytes: number): string {
  const text = formatSize(bytes).replace(" ", "");
  return parseSize(text) === bytes ? text : String(bytes);
}

/** Returns the groups in NPU names, as --group takes them; undefined for all NPUs in order. */
function groupOption({ npuCount, nodeNames }: Topology, { groupMembers, groupSize }: Collective): string | undefined {
  if (groupMembers.length === npuCount && groupSize === npuCount && groupMembers.every((npu, rank) => npu === rank))
    return undefined;
  const names = Array.from(groupMembers, (npu) => nodeNames[npu]);
  const groups = Array.from({ length: names.length / groupSize }, (_, g) =>
    names.slice(g * groupSize, (g + 1) * groupSize).join(","),
  );
  return groups.join(";");
}

/**
 * Returns the options that ask for the collective of a schedule, and for its algorithm where the file names one that there is;
 * undefined for what it leaves to the usual. Null for a custom collective.
 */
function askedBy({ schedule, algorithm }: GivenSchedule): Options | null {
  const { topology, collective } = schedule;
  const { kind, sizeBytes, chunksPerNpu, groupCount, groupMembers, rootRank } = collective;
  if (kind === "custom") return null;
  const isKnown = ALGORITHMS.some(({ name }) => name === algorithm);
  const hasChunks = chunksPerNpu > 1 && !isTreeFlow(schedule);
  return {
    collective: kind,
    size: sizeOption(sizeBytes),
    chunks: hasChunks ? String(chunksPerNpu) : undefined,
    root: rootRank > 0 && groupCount === 1 ? topology.nodeNames[groupMembers[rootRank]] : undefined,
    group: groupOption(topology, collective),
    outsiders: undefined,
    ...(isKnown ? { ...WITHOUT_OPTIONS, algorithm: algorithm as string } : {}),
  };
}

/** Chunks of each NPU: those of NPU v are chunk[offset[v] .. offset[v + 1]], ascending. */
interface PerNpu {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns the chunks that a placement puts at each NPU. O(chunks x NPUs of each). */
function chunksAt({ topology, collective }: Moves, placement: Placement): PerNpu {
  const { chunkCount } = collective;
  const offset = new Int32Array(topology.npuCount + 1);
  const members = (chunk: number): Int32Array =>
    membersOf(collective as Parameters<typeof membersOf>[0], placement, chunk);
  for (let c = 0; c < chunkCount; c++) for (const npu of members(c)) offset[npu + 1]++;
  for (let npu = 0; npu < topology.npuCount; npu++) offset[npu + 1] += offset[npu];
  const next = offset.slice();
  const chunk = new Int32Array(offset[topology.npuCount]);
  for (let c = 0; c < chunkCount; c++) for (const npu of members(c)) chunk[next[npu]++] = c;
  return { offset, chunk };
}

/** Returns [chunks] the one NPU of a placement, -1 where there are many. */
function onlyAt({ collective }: Moves, placement: Placement): Int32Array {
  const { chunkCount } = collective;
  if (placement.kind === "one") return placement.npu.slice(0, chunkCount);
  return Int32Array.from({ length: chunkCount }, (_, c) => {
    const members = membersOf(collective as Parameters<typeof membersOf>[0], placement, c);
    return members.length === 1 ? members[0] : -1;
  });
}

/** Returns the moves in the order in which they arrive, for the page. O(moves x links of a way). */
function hopsView(moves: Moves): HopsView {
  const { topology, collective, chunk, way, startPs, endPs, reduces, ways, chunkBytes, heldPs, totalPs, note } = moves;
  const { pre, post } = collective;
  const { ofLink } = linkWires(topology);
  const order = orderByTime(endPs);
  const count = order.length;
  const wireOffset = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const w = way[order[i]];
    wireOffset[i + 1] = wireOffset[i] + ways.linkOffset[w + 1] - ways.linkOffset[w];
  }
  const view = {
    chunk: new Int32Array(count),
    source: new Int32Array(count),
    target: new Int32Array(count),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    reduces: new Uint8Array(count),
    wires: new Int32Array(wireOffset[count]),
  };
  let at = 0;
  for (let i = 0; i < count; i++) {
    const move = order[i];
    const w = way[move];
    view.chunk[i] = chunk[move];
    view.source[i] = ways.source[w];
    view.target[i] = ways.target[w];
    view.startPs[i] = startPs[move];
    view.endPs[i] = endPs[move];
    view.reduces[i] = reduces[move];
    for (let p = ways.linkOffset[w]; p < ways.linkOffset[w + 1]; p++) view.wires[at++] = ofLink[ways.links[p]];
  }
  const held = chunksAt(moves, pre);
  const wanted = chunksAt(moves, post);
  return {
    ...view,
    wireOffset,
    chunkCount: collective.chunkCount,
    chunkBytes,
    chunkOrigin: onlyAt(moves, collective.reduces ? post : pre),
    heldOffset: held.offset,
    held: held.chunk,
    wantedOffset: wanted.offset,
    wanted: wanted.chunk,
    isPipelined: heldPs !== null,
    totalPs,
    note,
  };
}

const USUAL_SIZE = "1GiB";

/** Answers "programTime": rank r runs on NPU r, or on the r-th of the group. Throws InputError for options that are wrong. */
async function programTime(
  { file, network, options }: Ask<"programTime">,
  { progress }: Tools,
): Promise<Answer<"programTime">> {
  const sizeBytes = parseSize(textOf(options, "size") ?? USUAL_SIZE);
  const [program, topology] = [await programIn(file), await networkOf(network)];
  const { collective, rankCount } = program;
  const group = textOf(options, "group");
  const members = group === undefined ? null : (parseGroups(topology, group)[0] ?? null);
  const npus = members?.length ?? topology.npuCount;
  if (npus !== rankCount) {
    const place = members === null ? topology.name || "the network" : "its group";
    return { refusal: `it is for ${count(rankCount, "GPU")}, and ${place} has ${count(npus, "NPU")}` };
  }
  try {
    const { ps, model } = simulateProgram(program, topology, {
      sizeBytes,
      ...(members === null ? {} : { rankToNpu: members }),
      onProgress: (done, total) => progress({ what: "simulating", done, total, unit: "instructions" }),
    });
    const algbwGBps = bandwidth(sizeBytes, ps / PS_PER_US);
    const busbwGBps = algbwGBps === null ? null : algbwGBps * busFactor(collective, rankCount);
    return { ps, sizeBytes, algbwGBps, busbwGBps, model };
  } catch (error) {
    if (error instanceof InputError || error instanceof InfeasibleError) return { refusal: error.message };
    throw error;
  }
}

/** Answers "compare": all that apply, or `algorithms` of the options, at each size; what there is after each line and size on the way. */
async function compare(
  { wish: { network, options }, sizes }: { readonly wish: MakeWish; readonly sizes: readonly string[] },
  { engine, signal, progress, partial }: Tools,
): Promise<Comparison> {
  const names = optionValue(options, "algorithms");
  const algorithms = names === undefined ? {} : { algorithms: names.map(known) };
  const target = wordOf(options, "target", COMPARE_TARGETS);
  // the options of one algorithm mean nothing to the others
  const { seed, chunks, switching } = options;
  const topology = await networkOf(network);
  return compareOn(engine, topology, {
    collective: optionValue(options, "collective") ?? "allgather",
    sizesBytes: sizes.map((size) => parseSize(size, optionName("sizesBytes"))),
    ...algorithms,
    ...(target !== undefined && { target }),
    ...membershipOf(options),
    ...synthesisOptions({ seed, chunks, switching }),
    signal,
    onSize: partial,
    onRow: (_, soFar) => partial(soFar()),
    onLine: ({ sizeBytes, algorithm, done, total }) =>
      progress({ what: `comparing ${algorithm} at ${formatSize(sizeBytes)}`, done, total, unit: "lines" }),
  });
}

const known = (name: string): string => algorithmNamed(name, [], optionName("algorithms")).name;

/** Returns what there is to choose from. */
function welcome(engine: Engine): Welcome {
  return {
    version: BANYAN_VERSION,
    backend: engine.backend,
    threads: engine.pool().threads,
    presets: PRESETS,
    collectives: COLLECTIVE_KINDS.map((kind) => ({ kind, name: collectiveName(kind), hasRoot: hasRoot(kind) })),
    algorithms: ALGORITHMS.map((algorithm) => ({
      name: algorithm.name,
      description: algorithm.description,
      makes: algorithm.makes,
      collectives: algorithm.collectives,
      solves: algorithm.traits?.solves === true,
      options: algorithm.options ?? [],
      policies: algorithm.policies,
    })),
    formats: NETWORK_FORMATS.map(({ name, description }) => ({ name, description })),
    exports: exportsOf(),
  };
}

/** Returns the SHA-256 of a file, hexadecimal; null where the page is not in a secure context. */
async function sha256Of(content: Blob): Promise<string | null> {
  if (globalThis.crypto?.subtle === undefined) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Answers "file": the bytes of `synth -o FILE` for the same words; those of the file itself for one that was opened. */
async function file({ schedule: ref }: { readonly schedule: ScheduleRef }, tools: Tools): Promise<WrittenSchedule> {
  if (ref.file !== null) return { file: ref.file, sha256: await sha256Of(ref.file.content) };
  const kept = await scheduleOfReference(ref, tools);
  const { engine, signal, progress } = tools;
  const path = fileNameFor(kept);
  const lent = { engine, signal, progress, path, version: BANYAN_VERSION };
  const { files } = await exportInMemory(formatFor(kept), subjectOf(kept), {}, lent);
  const content = new Blob(files.flatMap(({ parts }) => [...parts]));
  return { file: { name: path, content }, sha256: await sha256Of(content) };
}

export type Handler<Name extends RequestName> = (ask: Ask<Name>, tools: Tools) => Promise<Answer<Name>>;

/** Returns what a view makes of a schedule's transfers in time; why not, where they cannot be shown. */
const ofMoves =
  <View extends object>(view: (moves: Moves) => View) =>
  async ({ schedule }: { readonly schedule: ScheduleRef }, tools: Tools) => {
    const moves = movesOf(await scheduleOfReference(schedule, tools), tools.engine.kernels.replay);
    return "refusal" in moves ? moves : view(moves);
  };

/** Every request and what answers it. */
export const HANDLERS: { readonly [Name in RequestName]: Handler<Name> } = {
  welcome: async (_, { engine }) => welcome(engine),
  network,
  open,
  make,
  file,
  timeline: ofMoves(timelineView),
  hops: ofMoves(hopsView),
  loads: async ({ schedule }, tools) =>
    loadsView(await scheduleOfReference(schedule, tools), tools.engine.kernels.replay),
  trees: async ({ schedule }, tools) => treesView(await scheduleOfReference(schedule, tools)),
  tree: async ({ schedule, forest, tree }, tools) => treeView(await scheduleOfReference(schedule, tools), forest, tree),
  compare,
  programTime,
  export: exportSubject,
  workloads: async (asked) => (await import("./training.ts")).workloads(asked),
  train: async (asked, tools) => (await import("./training.ts")).train(asked, tools),
  trainingTimeline: async (asked, tools) => (await import("./training.ts")).trainingTimeline(asked, tools),
  trainingTrace: async (asked, tools) => (await import("./training.ts")).trainingTrace(asked, tools),
  plan: async (asked, tools) => (await import("./plan.ts")).plan(asked, tools),
  planTimeline: async (asked, tools) => (await import("./plan.ts")).planTimeline(asked, tools),
  planFile: async (asked, tools) => (await import("./plan.ts")).planFile(asked, tools),
  kernels: async (_, tools) => (await import("./kernel-times.ts")).kernelTimes(tools),
};

const expanded = new WeakMap<TreeFlow, TreeFlow>();

/** Returns the flow with all its trees listed, once for each flow. */
function wholeFlow(flow: TreeFlow): TreeFlow {
  const before = expanded.get(flow);
  if (before !== undefined) return before;
  const whole = expandTrees(flow);
  expanded.set(flow, whole);
  return whole;
}

/** Edges of one tree. */
interface Edges {
  /** Nearer to the root, and the other end. */
  readonly near: Int32Array;
  readonly far: Int32Array;
  /** Edges from the root to the far end. */
  readonly depth: Int32Array;
}

/** Returns the edges of a tree, from the root outwards. */
function edgesOf({ linkSource, linkTarget }: Topology, forest: Forest, tree: number, edges: number): Edges {
  const { direction, linkOffset, links, root } = forest;
  const [nearOf, farOf] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const found = { near: new Int32Array(edges), far: new Int32Array(edges), depth: new Int32Array(edges) };
  const depthOf = new Map([[root[tree], 0]]);
  for (let i = 0; i < edges; i++) {
    const edge = tree * edges + i;
    found.near[i] = nearOf[links[linkOffset[edge]]];
    found.far[i] = farOf[links[linkOffset[edge + 1] - 1]];
    found.depth[i] = (depthOf.get(found.near[i]) ?? 0) + 1;
    depthOf.set(found.far[i], found.depth[i]);
  }
  return found;
}

/** Returns [trees] the height of each tree, in edges. */
function heights({ topology, collective }: TreeFlow, forest: Forest): Int32Array {
  const edges = collective.groupSize - 1;
  return Int32Array.from({ length: treeCount(forest) }, (_, tree) =>
    edgesOf(topology, forest, tree, edges).depth.reduce((most, depth) => Math.max(most, depth), 0),
  );
}

const NO_TREES: Refusal = { refusal: "The schedule is not one of trees." };

/** Returns the trees of a schedule; why there are none. O(links of all edges). */
function treesView({ schedule, report }: KnownSchedule): TreesView | Refusal {
  if (!isTreeFlow(schedule)) return NO_TREES;
  try {
    const whole = wholeFlow(schedule);
    const rate = report.throughput?.algbwGBps ?? null;
    return {
      forests: whole.forests.map((forest) => ({
        direction: forest.direction,
        root: forest.root.slice(),
        copies: forest.copies.slice(),
        height: heights(whole, forest),
      })),
      rate: gbpsText(rate),
      boundRate: gbpsText(rate === null ? null : rate / (report.throughput?.ofBound ?? 1)),
      share: report.throughput?.ofBound ?? 1,
      because: (report.throughput?.bound ?? report.limit).because,
      fullest: fullestLinks(schedule)
        .map(({ phase, links }) => (phase === null ? links : `${phase}: ${links}`))
        .join("; "),
    };
  } catch (error) {
    if (error instanceof InputError) return { refusal: `The trees cannot be listed: ${error.message}.` };
    throw error;
  }
}

/** Returns one tree of a schedule. Throws InputError where there is no such tree. */
function treeView({ schedule }: KnownSchedule, forestNumber: number, tree: number): TreeView {
  if (!isTreeFlow(schedule))
    throw new InputError("the schedule", "one of trees", schedule.collective.kind).as("not-applicable");
  const { topology, collective, forests } = wholeFlow(schedule);
  const forest = forests[forestNumber];
  if (forest === undefined || !(tree >= 0 && tree < treeCount(forest)))
    throw new InputError("the tree", "one of the schedule's", inWords(`forest ${forestNumber}, tree ${tree}`)).as(
      "unknown-name",
    );
  const edges = collective.groupSize - 1;
  const { near, far, depth } = edgesOf(topology, forest, tree, edges);
  const { ofLink } = linkWires(topology);
  const first = tree * edges;
  const begin = forest.linkOffset[first];
  return {
    root: forest.root[tree],
    direction: forest.direction,
    copies: forest.copies[tree],
    from: near,
    to: far,
    depth,
    wireOffset: Int32Array.from({ length: edges + 1 }, (_, i) => forest.linkOffset[first + i] - begin),
    wires: Int32Array.from(forest.links.subarray(begin, forest.linkOffset[first + edges]), (link) => ofLink[link]),
  };
}
