// Plans of tensor states at size: against the best of what people lay out by hand, and what it matters that collectives are scheduled.
import { loadavg } from "node:os";
import { CASES, isAsked, isSubset, nameOf, PASSES, SECONDS, SEQUENCE, STAGES } from "./plan-cases.mjs";
import { figure, machine, progress, publish, published, reportHead, table, trialProcess } from "./support.mjs";

const load = () => Math.round(loadavg()[0] * 10) / 10;
const percent = (part) => `${figure(100 * part, 3)} %`;
const handWords = ({ stages, uses, sharing, remaking, passes }) =>
  `${stages > 1 ? `${stages} stages; ` : ""}${uses.join(", ")}; ${sharing} shared; ${remaking} made again; ${passes} passes`;

/** Rows by name that were measured before, for runs of some. */
function before() {
  try {
    return isSubset ? published("plan").rows : [];
  } catch {
    return [];
  }
}

function report(where, rows) {
  const fitting = rows.filter(({ stepMs }) => stepMs !== undefined);
  const different = fitting.filter(({ volume }) => volume.isOther);
  return [
    ...reportHead(
      "plan",
      "Where the tensors of a step lie, by search",
      [
        `Sequences of ${SEQUENCE} tokens, bf16, Adam, in ${PASSES.join(", ")} passes, in ${STAGES.join(" or ")} stages, ${SECONDS} s for each search; steps are simulated with the`,
        "collectives of libraries. By hand: the best of data, sequence, tensor and expert parallelism on every axis, with what is shared",
        "and made again. Gap: by how much any plan of that mesh and those passes may be faster, by the search's count. Load: others on",
        "the machine meanwhile, of whom searches that end by the clock find less.",
      ],
      where,
    ),
    table(
      [
        "model",
        "network",
        "NPUs",
        "samples",
        "step ms",
        "by hand ms",
        "gain",
        "gap",
        "stages",
        "passes",
        "GiB",
        "s",
        "scheduled",
        "load",
        "best by hand",
      ],
      rows.map((r) =>
        r.stepMs === undefined
          ? [r.model, r.network, r.npus, r.batch, "", "", "", "", "", "", "", "", "", r.load, r.refused ?? r.error]
          : [
              r.model,
              r.network,
              r.npus,
              r.batch,
              figure(r.stepMs, 5),
              figure(r.byHandMs, 5),
              r.byHandMs === null ? "none fits" : percent(1 - r.stepMs / r.byHandMs),
              percent(r.gap),
              r.stages,
              r.passes,
              figure(r.memoryGiB, 3),
              figure(r.seconds, 3),
              r.collectives,
              r.load,
              r.hand === null ? "" : handWords(r.hand),
            ],
      ),
    ),
    "",
    "What a search by volume and bandwidth chooses, bytes x (p - 1) / p over what an NPU sends on the axis, and what its step takes with",
    `the collectives as they are scheduled: another plan in ${different.length} of ${fitting.length} rows.`,
    "",
    table(
      ["model", "network", "by volume", "counted ms", "simulated ms", "by schedules ms", "saved"],
      fitting.map(({ model, network, stepMs, volume }) => [
        model,
        network,
        volume.isOther ? "another" : "the same",
        figure(volume.countedMs, 5),
        figure(volume.stepMs, 5),
        figure(stepMs, 5),
        percent(1 - stepMs / volume.stepMs),
      ]),
    ),
  ].join("\n");
}

/** Measures and publishes; returns how many plans are slower than the best by hand, or failed. */
export async function run() {
  const where = machine();
  const known = new Map(before().map((row) => [nameOf(row), row]));
  const rows = () => CASES.map((one) => known.get(nameOf(one))).filter((row) => row !== undefined);
  for (const [i, one] of CASES.entries()) {
    if (!isAsked(one)) continue;
    progress(`plan: ${nameOf(one)}`);
    const { model, network, batch } = one;
    const trial = trialProcess("plan-trial.mjs", [String(i)]);
    try {
      known.set(nameOf(one), { model, network, batch, load: load(), ...(await trial.ask("plan")) });
    } catch (error) {
      known.set(nameOf(one), { model, network, batch, load: load(), error: error.message });
    } finally {
      trial.end();
    }
    publish("plan", { machine: where, rows: rows() }, report(where, rows()));
  }
  return rows().filter(({ error, stepMs, byHandMs }) => error !== undefined || (byHandMs !== null && stepMs > byHandMs))
    .length;
}
