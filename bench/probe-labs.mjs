// Probes of random laboratories: is the network found that was built? Bandwidths, and which pairs share what.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../scripts/paths.mjs";
import { machine, progress, progressDone, publish, reportHead, table } from "./support.mjs";

const load = (file) => import(at(`dist/${file}`));

const LABORATORIES = 20;
const WITHIN = 0.05;
/** A link slows those that could send so many times as much together. */
const SLOWS = 1.1;
const MBIT = 125_000;
const RATES = [200, 100];
const MOST_REPEATS = 7;
/** Of the rate that laboratories usually have: so much that a slow machine carries it, too. */
const EASY = 0.7;
/** What TCP, IP and Ethernet leave of a frame of 1500 bytes for messages. */
const PAYLOAD = 1448 / 1514;

/** Returns random networks of 3 to 8 NPUs: direct links, a star of unequal links, leaf switches that share an uplink. */
async function randomNetwork(seed) {
  const { random } = await load("base/random.js");
  const { topologyBuilder } = await load("model/topology/topology-builder.js");
  const draws = random(seed, 27);
  const npus = 3 + draws.below(6);
  const rate = () => RATES[draws.below(RATES.length)] * MBIT;
  const kind = ["links", "star", "leaves"][seed % 3];
  const builder = topologyBuilder(`${kind} ${npus}`);
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`);
  if (kind === "star") {
    const hub = builder.addSwitch("hub");
    for (let npu = 0; npu < npus; npu++) builder.addDuplex(npu, hub, rate(), 0);
  } else if (kind === "leaves") {
    const port = rate();
    const left = Math.max(2, npus >> 1);
    const leaves = ["left", "right"].map((name) => builder.addSwitch(name));
    for (let npu = 0; npu < npus; npu++) builder.addDuplex(npu, leaves[npu < left ? 0 : 1], port, 0);
    builder.addDuplex(leaves[0], leaves[1], port, 0);
  } else {
    const joined = new Set();
    const join = (a, b) => {
      const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
      if (a === b || joined.has(key)) return;
      joined.add(key);
      builder.addDuplex(a, b, rate(), 0);
    };
    for (let npu = 1; npu < npus; npu++) join(npu, draws.below(npu));
    for (let more = draws.below(npus); more > 0; more--) join(draws.below(npus), draws.below(npus));
  }
  return builder.build();
}

/** Returns sets of pairs that share something, each with the narrowest of what they share. */
function sharedSets(ways, capacity) {
  const users = Array.from(capacity, () => []);
  for (const [pair, way] of ways.entries()) for (const one of new Set(way ?? [])) users[one].push(pair);
  const sets = new Map();
  for (const [one, pairs] of users.entries()) {
    if (pairs.length === 0) continue;
    const key = pairs.join(" ");
    sets.set(key, Math.min(sets.get(key) ?? Number.POSITIVE_INFINITY, capacity[one]));
  }
  return sets;
}

/**
 * Returns the links that slow somebody: their pairs could send more than the link lets through by their first links, and receive
 * more by their last ones. A port of 200 Mbit/s towards two of 100 slows nobody, and nobody can find it.
 */
function slowing(ways, capacity) {
  return capacity.map((own, link) => {
    const pairs = ways.filter((way) => way.includes(link));
    const through = (end) => {
      const ends = new Set(pairs.map((way) => way.at(end)));
      return ends.has(link) ? Number.POSITIVE_INFINITY : [...ends].reduce((sum, one) => sum + capacity[one], 0);
    };
    return pairs.length < 2 || Math.min(through(0), through(-1)) > SLOWS * own;
  });
}

/** Probes the laboratory of a network, and returns how what was found differs from what was built. */
async function probed(topology, seed) {
  const { laboratoryOf } = await load("cli/laboratory/asked.js");
  const { pacedLaboratory } = await load("cli/laboratory/paced.js");
  const { openJobProber } = await load("probe/job-prober.js");
  const { mpiToolchain } = await load("mpi/toolchain.js");
  const { inferNetwork } = await load("infer/infer.js");
  const { recording } = await load("probe/recorded.js");
  const { signal } = new AbortController();
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "banyan-probe-labs-"));
  const context = { signal, progress: () => undefined };
  const toolchain = mpiToolchain();
  const usual = laboratoryOf(topology, toolchain, null).network.fastestBitsPerSecond;
  const first = laboratoryOf(topology, toolchain, usual * EASY);
  const { asked, laboratory, job } = await pacedLaboratory(context, first, folder);
  const { forwarding, network } = asked;
  const built = network.topology;
  const linkOf = new Map();
  for (const [link, source] of built.linkSource.entries()) linkOf.set(`${source}>${built.linkTarget[link]}`, link);
  const ways = forwarding.paths.map((nodes) => nodes.slice(1).map((node, i) => linkOf.get(`${nodes[i]}>${node}`)));
  const capacity = Array.from(built.linkBytesPerSecond, (rate) => rate * PAYLOAD);
  const present = sharedSets(ways, capacity);
  const slows = slowing(ways, capacity);
  const wanted = sharedSets(
    ways.map((way) => way.filter((link) => slows[link])),
    capacity,
  );
  let late = 0;
  let repeats = 0;
  try {
    const prober = await openJobProber(job, {
      signal,
      onLate: (some, all) => {
        late += some;
        repeats += all;
      },
    });
    const found = await inferNetwork(recording(prober, [], MOST_REPEATS), { seed });
    const { sharing, check, unexplained, asked: count } = found;
    const sets = sharedSets(
      sharing.ways,
      sharing.resources.map(({ bytesPerSecond }) => bytesPerSecond),
    );
    const same = [...wanted.keys()].filter((key) => sets.has(key));
    const others = [...sets.keys()].filter((key) => !present.has(key));
    const errors = same.map((key) => Math.abs(sets.get(key) / wanted.get(key) - 1));
    return {
      ...{ npus: topology.npuCount, links: built.linkSource.length, groups: wanted.size, found: same.length },
      extra: others.length,
      worst: Math.max(0, ...errors),
      check: check.medianError,
      ...{ explained: unexplained.length === 0, experiments: count.experiments, late: late / Math.max(1, repeats) },
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    await laboratory.close();
    rmSync(folder, { recursive: true });
  }
}

export async function run() {
  const where = machine();
  const rows = [];
  const isGood = (row) =>
    row.failed === undefined && row.found === row.groups && row.extra === 0 && row.worst <= WITHIN;
  for (let seed = 1; seed <= LABORATORIES; seed++) {
    const topology = await randomNetwork(seed);
    progress(
      `${seed} of ${LABORATORIES}, ${topology.name}; ${rows.filter(isGood).length} of ${rows.length} right so far`,
    );
    try {
      rows.push({ seed, name: topology.name, ...(await probed(topology, seed)) });
    } catch (error) {
      rows.push({ seed, name: topology.name, failed: error.message });
    }
  }
  progressDone();
  const percent = (part) => `${(100 * part).toFixed(1)} %`;
  const cells = rows.map((row) =>
    row.failed === undefined
      ? [
          ...[row.seed, row.name, row.links, `${row.found} of ${row.groups}`, row.extra, percent(row.worst)],
          ...[
            percent(row.check),
            percent(row.late),
            row.experiments,
            row.seconds.toFixed(0),
            isGood(row) ? "yes" : "no",
          ],
        ]
      : [row.seed, row.name, "-", "-", "-", "-", "-", "-", "-", "-", row.failed],
  );
  const heads = [
    "seed",
    "network",
    "links",
    "groups found",
    "others",
    "worst bandwidth",
    "check",
    "late",
    "experiments",
    "s",
    "right",
  ];
  const good = rows.filter(isGood).length;
  const about = [
    `Random networks of 3 to 8 NPUs in laboratories: ${good} of ${LABORATORIES} are found, with every set of pairs that share a link which slows some of them, no other, and every bandwidth within ${100 * WITHIN} % of what headers leave of it.`,
    "late: repeats that some process began late, for want of a core.",
  ];
  const text = [...reportHead("probe-labs", "Probes of random laboratories", about, where), "", table(heads, cells)];
  publish("probe-labs", { machine: where, rows }, text.flat().join("\n"));
  return LABORATORIES - good;
}
