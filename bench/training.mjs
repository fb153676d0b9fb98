// Training in the papers with our figures beside the printed ones: Themis figures 4 and 12, TACOS 20 and 21, Zhao 3.8, 3.9 and 4.13, TACCL 7.
import { openEngine } from "../dist/engine/engine.js";
import { machine, progress, publish } from "./support.mjs";
import { figure413 } from "./training-forest.mjs";
import { missedBy, trainingReport } from "./training-report.mjs";
import { figures20And21 } from "./training-tacos.mjs";
import { figure38, mixtureOnNdv2 } from "./training-testbed.mjs";
import { figure4, figure12 } from "./training-themis.mjs";
import { figure39 } from "./training-zhao.mjs";

export async function run() {
  const where = machine();
  const engine = await openEngine();
  try {
    const say = (text) => progress(`training: ${text}`);
    const themis = await figure12(say);
    const found = {
      themis: { ...themis, figure4: await figure4(themis) },
      zhao: { figure38: await figure38(engine, say), figure39: await figure39(engine, say) },
      forest: await figure413(engine, say),
      taccl: await mixtureOnNdv2(engine, say),
      tacos: await figures20And21(engine, say),
    };
    const missed = missedBy(found);
    publish("training", { machine: where, ...found, missed }, trainingReport(where, found, missed));
    return missed.length;
  } finally {
    await engine.close();
  }
}
