import { topologyJsonParts } from "../../export/topology-json.ts";
import type { Context } from "../context.ts";
import { networkOf } from "../network.ts";
import { blocks, outputFile } from "../output-file.ts";
import { describeTopology } from "../topology-report.ts";
import { textOf } from "../values.ts";

/** `banyan topology TOPO`: a summary, or the topology JSON; -o writes the file. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const path = textOf(options, "output");
  const output = path === undefined ? undefined : outputFile(context, path, "-o");
  const topology = await networkOf(args[0] as string, options);
  function* parts(): Generator<string> {
    yield* topologyJsonParts(topology);
    yield "\n";
  }
  output?.write(parts());
  if (json) {
    for (const block of blocks(parts())) if (!context.out(block)) break;
  } else if (!(quiet && output !== undefined)) {
    context.out(`${describeTopology(topology, context.style, output?.path).join("\n")}\n`);
  }
  return 0;
}
