import { InfeasibleError, InputError } from "../../base/errors.ts";
import { busFactor } from "../../model/collective/collective.ts";
import { PS_PER_US, parseSize } from "../../model/numbers/units.ts";
import { parseGroups } from "../../model/topology/groups.ts";
import { count } from "../../report/amounts.ts";
import { bandwidth } from "../../report/result.ts";
import { textOf } from "../../request/values.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import type { Answer, Ask } from "../protocol.ts";
import { programIn } from "./given-subject.ts";
import type { Tools } from "./handlers.ts";
import { networkOf } from "./networks.ts";

const USUAL_SIZE = "1GiB";

/** Answers "programTime": rank r runs on NPU r, or on the r-th of the group. Throws InputError for options that are wrong. */
export async function programTime(
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
