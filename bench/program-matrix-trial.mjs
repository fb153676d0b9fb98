// The programs of a network in a process of their own: program-matrix-trial.mjs. A message ({ network }) is answered by { found }.
import { loaded } from "./sources.mjs";
import { answerWith } from "./support.mjs";

const module = await loaded("bench/lowering-matrix.ts");

answerWith(async ({ network }) => {
  const found = [];
  for await (const outcome of module.outcomes(network)) found.push(outcome);
  return { found };
});
