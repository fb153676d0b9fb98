import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { loadKernels } from "../../engine/kernels/load.ts";
import { busFactor, collective as makeCollective } from "../../model/collective/collective.ts";
import { PS_PER_US, parseSize } from "../../model/numbers/units.ts";
import { parseGroups } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count, percent, roundedSize, timeText } from "../../report/amounts.ts";
import { differencesJson, differencesText, programSizeText, programText } from "../../report/program-text.ts";
import { type BoundReport, bandwidth, boundReport, topologySummary } from "../../report/result.ts";
import { networkText } from "../../report/subject-text.ts";
import { refuseOptions, textOf } from "../../request/option-table.ts";
import { DEFAULT_SIZE_BYTES } from "../../request/problem.ts";
import { limitWithBottleneck } from "../../run/bottleneck.ts";
import { FEW_MESSAGES } from "../../run/programs/differences.ts";
import { type Attribution, attribute } from "../../simulate/program/attribution.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { utilisation } from "../../simulate/steps/replay.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { networkOf } from "../network.ts";
import { chainTable, limitCells, timeCells } from "../reports/chain-report.ts";
import { labelled, linksJson, linksText } from "../reports/text.ts";
import { type ProgramFile, programJson } from "./program-file.ts";

/** `banyan simulate FILE` for a program: its time on the network of --topology, and how busy links are. */
export async function simulateProgramFile(context: Context, { file, program }: ProgramFile): Promise<number> {
  const { options, json, style } = context;
  refuseOptions(
    options,
    ["switching", "reference", "chunks", "trace"],
    "a schedule beside it, not a program,",
    "not-alone",
  );
  const wanted = textOf(options, "topology");
  if (wanted === undefined) throw new InputError(optionName("topology"), "the network that the program is to run on");
  const size = textOf(options, "size");
  const sizeBytes = size === undefined ? DEFAULT_SIZE_BYTES : parseSize(size);
  const topology = await networkOf(wanted, options);
  context.progress({ what: "verifying" });
  const correct = verifyProgram(program, { limit: 1 }).violationCount === 0;
  if (!correct) context.note(`this program is wrong (\`banyan verify ${file}\` says how)`);
  const group = textOf(options, "group");
  const rankToNpu = group === undefined ? null : parseGroups(topology, group)[0];
  if (rankToNpu !== null && rankToNpu?.length !== program.rankCount)
    throw new InputError(optionName("group"), `${program.rankCount} NPUs, one for each rank,`, group);
  const call = { sizeBytes, ...(rankToNpu === null || rankToNpu === undefined ? {} : { rankToNpu }) };
  const onProgress = (done: number, total: number): void =>
    context.progress({ what: "simulating", done, total, unit: "instructions" });
  const taken = simulateProgram(program, topology, { ...call, onProgress });
  const { ps, model, linkBusyPs, messages, cutting, relayedPairs } = taken;
  const isTakenApart = messages <= FEW_MESSAGES || options["details"] === true;
  const why = isTakenApart ? attribute(program, topology, { ...call, onProgress }, taken) : null;
  const us = ps / PS_PER_US;
  const algbwGBps = bandwidth(sizeBytes, us);
  const factor = busFactor(program.collective, program.rankCount);
  const time = { us, algbwGBps, busbwGBps: algbwGBps === null ? null : algbwGBps * factor, model };
  const limit = correct
    ? limitFor((await loadKernels()).kernels, program, topology, sizeBytes, rankToNpu ?? null)
    : null;
  const ofLimit = limit === null || us === 0 ? null : limit.us / us;
  const links = utilisation(topology, ps, linkBusyPs);
  const code = correct ? 0 : 1;
  if (json) {
    outJson(
      context,
      {
        schema: "banyan/simulation@2",
        file,
        topology: topologySummary(topology),
        program: programJson(program),
        sizeBytes,
        verified: correct,
        messages,
        cutting,
        relayedPairs,
        time,
        adds: why === null ? null : { aloneUs: why.fromPs / PS_PER_US, differences: differencesJson(why) },
        limit,
        ofLimit,
        links: linksJson(links),
      },
      correct,
    );
    return code;
  }
  const rows = [
    ...(limit === null ? [] : [limitCells("limit", limit, "any algorithm")]),
    timeCells("program", time, ofLimit === null ? "" : percent(ofLimit)),
  ];
  const lines = [
    "",
    labelled("topology", networkText(topologySummary(topology))),
    labelled("program", `${programText(program)}, ${roundedSize(sizeBytes)}`),
    labelled("", `${programSizeText(program)}, ${correct ? style.good("verified") : style.bad("NOT correct")}`),
    labelled(
      "ranks",
      rankToNpu === null ? `on the first ${program.rankCount} NPUs, in order (--group says others)` : `on ${group}`,
    ),
    ...(relayedPairs === 0
      ? []
      : [labelled("", `${count(relayedPairs, "pair")} of GPUs reach each other only through other GPUs`)]),
    "",
  ].map((line) => `  ${line}`);
  const added = why === null ? [] : addedLines(why);
  outLines(context, [...lines, ...chainTable(rows, style), "", ...added, `  ${labelled("links", linksText(links))}`]);
  return code;
}

/** Returns what the runtime adds to the messages of a program. */
function addedLines(why: Attribution): string[] {
  const text = differencesText(why);
  const alone = `its messages alone take ${timeText(why.fromPs / PS_PER_US)}`;
  return [`  ${labelled("runtime", text === "" ? `${alone}; it adds nothing` : `${alone}; ${text}`)}`];
}

/** Collectives of programs that are said by their kind, their size and who takes part. */
const NAMED = ["allgather", "reducescatter", "allreduce", "alltoall"] as const;

/** Returns the limit of what a program does, on the NPUs of its ranks; null where its kind does not say what that is. */
function limitFor(
  kernels: Kernels,
  { collective, rankCount }: ProgramFile["program"],
  topology: Topology,
  sizeBytes: number,
  rankToNpu: ArrayLike<number> | null,
): BoundReport | null {
  const kind = NAMED.find((name) => name === collective);
  if (kind === undefined) return null;
  const members = Int32Array.from({ length: rankCount }, (_, rank) => rankToNpu?.[rank] ?? rank);
  const asked = makeCollective({ kind, groups: [members], sizeBytes, chunksPerNpu: 1, rootRank: 0 });
  return boundReport(topology, { sizeBytes }, limitWithBottleneck(kernels, topology, asked));
}
