import { shellWord } from "../../base/shell-word.ts";
import { visible } from "../../base/visible.ts";
import type { PlanCollective } from "../../model/tensor-plan/collectives.ts";

/**
 * Returns the command line that makes a schedule of a collective on a network, given as the command line takes it. `more` are other
 * options by their flags: { "--algorithm": "auto" }, and of `export` { "--to": "msccl-xml", "--output": "gather.xml" }.
 */
export function collectiveCommand(
  verb: "synth" | "export",
  network: string,
  { asked: { collective, sizeBytes, group } }: PlanCollective,
  more: Readonly<Record<string, string>> = {},
): string {
  const options = {
    "--collective": collective,
    "--size": `${sizeBytes}`,
    ...(group === undefined ? {} : { "--group": group }),
    ...more,
  };
  return ["banyan", verb, network, ...Object.entries(options).flat()].map(shellWord).join(" ");
}

/** Returns collectives as a script for a shell, a comment and a command line each. */
export function collectivesScript(network: string, collectives: readonly PlanCollective[]): string {
  const lines = collectives.map((one) => {
    const { axes, groupCount, groupSize, times } = one;
    const among = groupCount === 1 ? `${groupSize} NPUs` : `${groupCount} groups of ${groupSize} NPUs`;
    return `# ${times} a step, ${visible(axes)}: ${among}\n${collectiveCommand("synth", network, one)}\n`;
  });
  return lines.join("");
}
