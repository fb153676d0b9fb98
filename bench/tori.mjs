// Every square torus from 3x3 to 200x200: slots of the all-gather against the bound, and how long it took.
import { asPlanned, figure, machine, progress, publish, reportHead, table } from "./support.mjs";

const SIDES = { first: 3, last: 200 };
/** Sides whose row is shown; the others are counted. */
const SHOWN = new Set([3, 4, 5, 6, 8, 10, 16, 20, 32, 40, 64, 100, 128, 150, 199, 200]);
const SLOTS_ABOVE = 1;
const ABOUT = [
  "All-gather of 1 GiB, one chunk per NPU, default trials, verified: up to 4e6 transfers all NPUs, beyond that",
  "the compact form. A torus dimension of three NPUs has a link each way between any two.",
];

/** Measures, prints and writes; returns the number of requirements missed. */
export async function run() {
  const { openEngine, synthesize, topology } = await import("../dist/index.js");
  const where = machine();
  const engine = await openEngine({ threads: 0 });
  const rows = [];
  for (let side = SIDES.first; side <= SIDES.last; side++) {
    progress(`tori: ${side}x${side}`);
    const network = topology(`torus:${side}x${side}`);
    const { report } = await synthesize({ topology: network, collective: "allgather", engine });
    if (!report.verified) throw new Error(`torus:${side}x${side}: not verified`);
    const boundSlots = Math.ceil((side * side - 1) / 4);
    const { us, bound, share } = asPlanned(report);
    const slots = Math.round((us / bound.us) * boundSlots);
    rows.push({
      side,
      npus: side * side,
      slots,
      boundSlots,
      above: slots - boundSlots,
      optimality: share,
      synthesisMs: report.synthesis.ms,
      policy: report.synthesis.policy,
    });
  }
  await engine.close();
  const above = rows.filter((row) => row.above > 0);
  const far = rows.filter((row) => row.above > SLOTS_ABOVE);
  const missed = above.length === 0 ? "none" : above.map(({ side, slots }) => `${side}x${side} (${slots})`).join(", ");
  const text = [
    ...reportHead("tori", "Square tori", ABOUT, where),
    `${rows.length - above.length} of ${rows.length} square tori from ${SIDES.first}x${SIDES.first} to ${SIDES.last}x${SIDES.last} at the bound; above it: ${missed}.`,
    "",
    table(
      ["torus", "NPUs", "slots", "bound", "above", "synthesis ms", "policy"],
      rows
        .filter(({ side }) => SHOWN.has(side))
        .map((r) => [`${r.side}x${r.side}`, r.npus, r.slots, r.boundSlots, r.above, figure(r.synthesisMs), r.policy]),
    ),
  ].join("\n");
  publish("tori", { machine: where, rows }, text);
  return far.length;
}
