import { topology, openEngine } from "./src/index.ts";
import { meshOf, meshGroups, groupSize } from "./src/model/tensor-plan/mesh.ts";
import { askedCollective } from "./src/model/workload/asked-collective.ts";
import { limitOf } from "./src/model/bounds/bounds.ts";
import { limitWithBottleneck } from "./src/run/bottleneck.ts";
import { problemOf } from "./src/request/problem.ts";
import { toNumber } from "./src/model/numbers/rational.ts";
const [net, meshText, kk] = process.argv.slice(2);
const t = topology(net);
const engine = await openEngine();
const mesh = meshOf(meshText.split("x").map(Number));
console.log(net, t.npuCount, t.linkSource.length);
for (let set=1; set < 1<<mesh.axes.length; set++)
for (const kind of "reducescatter,alltoall,allreduce,allgather".split(",")) {
  const out: string[]=[];
for (const bytes of [1024, 1048576, 1073741824]) {
  const groups = { size: groupSize(mesh,set), members: meshGroups(mesh,set) };
  const request = askedCollective(t.npuCount, kind as any, groups, bytes);
  const a=performance.now();
  const p = problemOf(t, {...request, chunks: 1});
  const b=performance.now();
  const l = limitOf(p.topology, p.collective);
  const c=performance.now();
  const l2 = kk ? limitWithBottleneck(engine.kernels, p.topology, p.collective):l;
  const d=performance.now();
  out.push(`${(toNumber(l.ps)/1e6).toFixed(2)}us ${(toNumber(l2.ps)/1e6).toFixed(2)}us ${(b-a).toFixed(0)}+${(c-b).toFixed(0)}+${(d-c).toFixed(0)}ms ${l.witness.kind}`);
}
  console.log(set, kind, out.join(" | "));
}
await engine.close();
