import { edgeListParts } from "../../export/networks/edge-list.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { linkCount } from "../../model/topology/topology.ts";
import { placeOf, textOf } from "../../request/option-table.ts";
import { blocks } from "../../run/export/blocks.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { runnerFor } from "../../run/threads/runner.ts";
import { bfbFacts } from "../../synthesize/bfb/broadcast.ts";
import { type Context, type Envelope, envelopeOf, outRows } from "../context.ts";
import { withEngine } from "../engine.ts";
import { outputFile } from "../files/output-file.ts";
import { networkOf } from "../network.ts";
import { writtenText } from "../reports/text.ts";
import { describeTopology } from "../reports/topology-report.ts";

/** `banyan topology TOPO`: a summary with the best breadth-first broadcast over direct links, or the topology JSON; -o writes the file. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const path = textOf(options, "output");
  if (path !== undefined) refuseEnding(path, [".json", ".csv"]);
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const topology = await networkOf(args[0] as string, options);
  function* parts(names: { readonly before?: Envelope } = {}): Generator<string> {
    yield* topologyJsonParts(topology, "", names);
    yield "\n";
  }
  const isTable = path?.toLowerCase().endsWith(".csv") === true;
  const bytes = output?.write(isTable ? edgeListParts(topology) : parts());
  if (json) {
    for (const block of blocks(parts({ before: envelopeOf(context, "banyan/topology@1") })))
      if (!context.out(block)) break;
  } else if (!(quiet && output !== undefined)) {
    const broadcast = await withEngine(context, async (engine) => {
      const { runner, dispose } = runnerFor(engine, topology.npuCount * linkCount(topology), context.signal, () => {});
      try {
        return await bfbFacts(topology, runner.balance);
      } finally {
        dispose();
      }
    });
    const file = output && writtenText(output.path, bytes);
    outRows(context, describeTopology(topology, context.style, { file, broadcast }));
  }
  return 0;
}
