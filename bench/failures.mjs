// All-gathers after failures: slots over the bound, and the time beside that of one trial in which all NPUs take the oldest chunk.
import { openEngine, synthesize, topology, without } from "../dist/index.js";
import { routeTimes } from "../dist/model/routes/routes.js";
import { FAILED_NETWORKS, NAMED_NETWORKS } from "./failures-cases.mjs";
import { asPlanned, figure, machine, median, progress, publish, reportHead, table } from "./support.mjs";

const ABOUT = [
  "All-gather of 1 GiB, one chunk per NPU, by `tacos` with default trials, verified: 200 meshes, grids and tori of 20x20 to 100x100 and of",
  "about as many NPUs, that lost 1 to 20 NPUs or links (seeded). `oldest` is one trial in which every NPU takes the oldest chunk.",
  "At most a slot over the bound is asked, in three times the time of that trial.",
];
const PS_PER_US = 1e6;
const MOST_SLOTS = 1;
const MOST_TIMES = 3;

const nameOf = ({ expression, failed }) => `${expression} without ${failed.join(", ")}`;

async function measured(engine, network, options) {
  const { schedule, report } = await synthesize({ engine, topology: network, collective: "allgather", ...options });
  if (!report.verified) throw new Error("not verified");
  const { us, bound } = asPlanned(report);
  const [slotPs] = routeTimes(network, schedule.routes, schedule.collective.chunkBytes).slotPs;
  const over = ((us - bound.us) * PS_PER_US) / slotPs;
  // times are whole picoseconds: what is less than one from whole slots is whole
  const whole = Math.round(over);
  return {
    over: Math.abs(over - whole) * slotPs < 1 ? whole : over,
    boundSlots: (bound.us * PS_PER_US) / slotPs,
    ...report.synthesis,
  };
}

async function compared(engine, found) {
  let network;
  try {
    network = without(topology(found.expression), found.failed);
  } catch {
    return null; // what is left is not connected
  }
  const oldest = await measured(engine, network, { policy: "oldest", trials: 1 });
  const ours = await measured(engine, network, {});
  return { ...found, npus: network.npuCount, oldest, ours, times: ours.ms / oldest.ms };
}

/** Runs the bench; returns how many networks missed. */
export async function run() {
  const where = machine();
  const engine = await openEngine({ threads: 0 });
  const rows = [];
  let left = 0;
  for (const found of [...NAMED_NETWORKS, ...FAILED_NETWORKS]) {
    const row = await compared(engine, found);
    if (row === null) left++;
    else rows.push(row);
    progress(`failures: ${rows.length} of ${NAMED_NETWORKS.length + FAILED_NETWORKS.length}`);
  }
  await engine.close();
  const drawn = rows.slice(NAMED_NETWORKS.length);
  const over = drawn.filter(({ ours }) => ours.over > MOST_SLOTS);
  const slow = drawn.filter(({ times }) => times > MOST_TIMES);
  const shown = new Set([...rows.slice(0, NAMED_NETWORKS.length), ...over, ...slow]);
  const worst = (of) => drawn.reduce((most, row) => Math.max(most, of(row)), 0);
  const text = [
    ...reportHead("failures", "All-gathers after failures", ABOUT, where),
    `${drawn.length} networks (${left} drawn ones are not connected): ${drawn.filter(({ ours }) => ours.over === 0).length} at the bound, ${
      drawn.length - over.length
    } at most ${MOST_SLOTS} slot over it, the worst ${figure(worst(({ ours }) => ours.over))}; oldest: ${
      drawn.filter(({ oldest }) => oldest.over === 0).length
    } at the bound, the worst ${figure(worst(({ oldest }) => oldest.over))} slots over it. Time over that of the oldest: median ${figure(
      median(drawn.map(({ times }) => times)),
      3,
    )}, most ${figure(
      worst(({ times }) => times),
      3,
    )}.`,
    "",
    "Four that are always measured, and every miss:",
    "",
    table(
      ["network", "NPUs", "bound, slots", "oldest, over", "ms", "ours, over", "ms", "policy", "trials"],
      [...shown].map((row) => [
        nameOf(row),
        row.npus,
        figure(row.ours.boundSlots, 5),
        figure(row.oldest.over),
        figure(row.oldest.ms),
        figure(row.ours.over),
        figure(row.ours.ms),
        row.ours.policy,
        row.ours.trials,
      ]),
    ),
  ].join("\n");
  publish("failures", { ...where, left, rows }, text);
  return over.length + slow.length;
}
