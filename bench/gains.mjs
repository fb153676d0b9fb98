// What ours gain over the best of the libraries, as programs of each target; and whether a program is written that is slower than them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CASES, isAsked, isSubset, LIMIT_SECONDS, nameOf, SIZES, TARGETS } from "./gains-cases.mjs";
import { command, figure, groupedBy, machine, progress, publish, published, reportHead, table } from "./support.mjs";

/** Less than this is a tie. */
const TIE = 1.01;

const least = (rows, us) =>
  rows.reduce((best, row) => (us(row) < (best === null ? Number.POSITIVE_INFINITY : us(best)) ? row : best), null);

/** Returns the fastest of what is loaded and of what the library runs, with what it takes. */
function rowOf({ rows, leftOut }, target) {
  const oursUs = target === null ? ({ us }) => us : ({ programUs }) => programUs ?? Number.POSITIVE_INFINITY;
  const theirsUs = ({ us, library, libraryUs }) =>
    (target === null ? library !== undefined && us : libraryUs) || Number.POSITIVE_INFINITY;
  const [ours, theirs] = [least(rows, oursUs), least(rows, theirsUs)];
  return {
    ours: ours === null ? null : { algorithm: ours.algorithm, us: oursUs(ours) },
    library: theirs === null ? null : { algorithm: theirs.algorithm, how: theirs.library, us: theirsUs(theirs) },
    limitUs: Math.min(...rows.map(({ us, ofLimit }) => us * ofLimit)),
    lines: rows.length,
    leftOut: leftOut.length,
  };
}

const ratioOf = ({ ours, library }) => (ours && library ? library.us / ours.us : null);

/** Returns the gain in words: how many times as fast, "tie" within 1 %, "library" where its own is faster than any program. */
function gainOf(row) {
  const ratio = ratioOf(row);
  if (ratio === null) return "";
  if (ratio >= TIE) return `${figure(ratio, 3)} x`;
  return ratio * TIE > 1 ? "tie" : `library (${figure(ratio, 3)} x)`;
}

/** Returns the programs that `export --sizes` writes, each simulated as a file at each size that it is for. */
async function written({ network, target, collective }) {
  const folder = mkdtempSync(join(tmpdir(), "banyan-gains-"));
  try {
    const asked = ["-c", collective, "--sizes", SIZES.join(","), ...TARGETS[target], "-o", join(folder, "programs")];
    const { report } = await command(["export", network, ...asked], LIMIT_SECONDS);
    const files = [];
    for (const { file, algorithm, minBytes, maxBytes, sizes } of report.files) {
      for (const { sizeBytes, us, library } of sizes) {
        const path = join(folder, "programs", file);
        const size = ["--topology", network, "--size", String(sizeBytes)];
        const simulated = await command(["simulate", path, ...size], LIMIT_SECONDS);
        files.push({
          algorithm,
          minBytes,
          maxBytes,
          sizeBytes,
          us,
          library,
          simulatedUs: simulated.report.time.us,
        });
      }
    }
    return { files, left: report.left };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns what is wrong with the programs that were written: slower than the library by the table, or by `compare`. */
function slower(unit) {
  return (unit.export?.files ?? []).flatMap(({ algorithm, sizeBytes, us, simulatedUs, library }) => {
    const compared = unit.sizes.find((row) => row.sizeBytes === sizeBytes)?.library ?? null;
    const told = [library, compared].filter((one) => one !== null);
    return told
      .filter((one) => Math.max(us, simulatedUs) > TIE * one.us)
      .map(
        (one) =>
          `${nameOf(unit)} at ${sizeBytes} bytes: a program of ${algorithm} that takes ${figure(Math.max(us, simulatedUs))} us is written, ${one.algorithm} of the library takes ${figure(one.us)} us`,
      );
  });
}

/** Units by name that were measured before, for runs of some. */
function before() {
  try {
    return isSubset ? published("gains").units : [];
  } catch {
    return [];
  }
}

/** Returns which cases have not been measured, or not at all sizes. */
function missing(units) {
  const isWhole = ({ sizes }) => sizes.length === SIZES.length && sizes.every(({ error }) => error === undefined);
  const whole = new Set(units.filter(isWhole).map(nameOf));
  const names = CASES.map(nameOf).filter((name) => !whole.has(name));
  return names.length === 0 ? [] : [`Not measured, or not at every size: ${names.join(", ")}.`, ""];
}

const sizeText = (bytes) =>
  bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;

function report(where, units, faults) {
  const rows = units.flatMap((unit) => unit.sizes.map((row) => ({ ...unit, ...row })));
  const done = rows.filter((row) => ratioOf(row) !== null);
  const count = (test) => done.filter((row) => test(ratioOf(row))).length;
  return [
    ...reportHead(
      "gains",
      "What ours gain over the best of the libraries",
      [
        "`compare --target` at each size: the fastest program that the",
        "target loads, beside the fastest of what its library has by itself, each at its best setting, both in the simulation of programs;",
        "`schedules`: as schedules, no target. `library`: no program is worth loading. Times are simulated: others on the machine do not change",
        "them, but rows are stopped by the clock. A run that is interrupted keeps its rows; `GAINS_ONLY` goes on with some of the others.",
      ],
      where,
    ),
    `${done.length} rows: ${count((ratio) => ratio >= TIE)} gains, ${count((ratio) => ratio < TIE && ratio * TIE > 1)} ties within 1 %, ${count((ratio) => ratio * TIE <= 1)} better left to the library.`,
    "",
    table(
      ["network", "target", "collective", "size", "ours", "us", "library", "us", "gain", "of limit"],
      rows.map((row) => [
        row.network,
        row.target ?? "schedules",
        row.collective,
        sizeText(row.sizeBytes),
        row.ours?.algorithm ?? row.error ?? "none",
        figure(row.ours?.us),
        row.library === null ? "" : `${row.library.algorithm} (${row.library.how})`,
        figure(row.library?.us),
        gainOf(row),
        row.ours ? `${figure((100 * row.limitUs) / row.ours.us, 3)} %` : "",
      ]),
    ),
    "",
    "`export --sizes` for the same: the programs written, each simulated as a file at the sizes that it is for, and the sizes that are",
    "left to the library.",
    "",
    table(
      [
        "network",
        "target",
        "collective",
        "programs written",
        "checked",
        "left to the library",
        "slower than the library",
      ],
      units
        .filter(({ target }) => target !== null)
        .map((unit) => [
          unit.network,
          unit.target,
          unit.collective,
          unit.export?.files === undefined
            ? (unit.export?.error ?? "not asked yet")
            : [
                ...groupedBy(
                  unit.export.files,
                  ({ minBytes, algorithm }) => `${algorithm} from ${sizeText(minBytes)}`,
                ).keys(),
              ].join(", ") || "none",
          unit.export?.files?.length ?? "",
          (unit.export?.left ?? []).map(({ sizeBytes }) => sizeText(sizeBytes)).join(", "),
          slower(unit).length,
        ]),
    ),
    "",
    ...missing(units),
    faults.length === 0 ? "No program is written that is slower than the library." : faults.join("\n"),
  ].join("\n");
}

/** Measures and publishes; returns how many programs are written that are slower than the library's own. */
export async function run() {
  const where = machine();
  const known = new Map(before().map((unit) => [nameOf(unit), unit]));
  const units = () => CASES.map((one) => known.get(nameOf(one))).filter((unit) => unit !== undefined);
  const faults = () => units().flatMap(slower);
  const keep = (unit) => {
    known.set(nameOf(unit), unit);
    publish("gains", { machine: where, faults: faults(), units: units() }, report(where, units(), faults()));
  };
  for (const one of CASES.filter(isAsked)) {
    const { network, target, collective } = one;
    const aim = [
      ...(target === null ? [] : ["--target", target]),
      ...(one.algorithms === undefined ? [] : ["--algorithms", one.algorithms.join(",")]),
    ];
    let unit = { ...one, sizes: [] };
    for (const size of SIZES) {
      progress(`gains: ${nameOf(one)} at ${size}`);
      const sizeBytes = Number.parseInt(size, 10) * 2 ** { K: 10, M: 20, G: 30 }[size.at(-3)];
      let row;
      const asked = ["compare", network, "-c", collective, "--sizes", size, ...aim];
      try {
        row = rowOf((await command(asked, LIMIT_SECONDS)).report, target);
      } catch (error) {
        row = { ours: null, library: null, error: error.message.replace(`banyan ${asked.join(" ")}: `, "") };
      }
      unit = { ...unit, sizes: [...unit.sizes, { sizeBytes, ...row }] };
      keep(unit);
    }
    if (target === null) continue;
    progress(`gains: ${nameOf(one)} written`);
    try {
      unit = { ...unit, export: await written(one) };
    } catch (error) {
      const isLeft = /no program for \w+ is as fast as what runs without one/.test(error.message);
      const all = unit.sizes.map(({ sizeBytes }) => ({ sizeBytes }));
      unit = { ...unit, export: isLeft ? { files: [], left: all } : { error: error.message } };
    }
    keep(unit);
  }
  for (const fault of faults()) console.error(`gains: ${fault}`);
  return (
    faults().length +
    units().filter((unit) => unit.export?.error !== undefined || unit.sizes.some(({ error }) => error !== undefined))
      .length
  );
}
