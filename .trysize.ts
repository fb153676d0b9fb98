import { openEngine, topology } from "./src/index.ts";
import { meshOf, meshGroups, groupSize } from "./src/model/tensor-plan/mesh.ts";
import { askedCollective } from "./src/model/workload/asked-collective.ts";
import { candidatesFor } from "./src/run/auto/candidates.ts";
import { contender } from "./src/run/auto/chunk-trials.ts";
import { synthesize } from "./src/run/synthesize.ts";
import { linkUseOf } from "./src/run/link-use.ts";
const [net, meshText, kinds, sizes, sets] = process.argv.slice(2);
const engine = await openEngine();
const t = topology(net);
const mesh = meshOf(meshText.split("x").map(Number));
console.log(engine.backend, t.npuCount, t.linkSource.length);
for (const set of (sets?.split(",").map(Number) ?? Array.from({length: (1<<mesh.axes.length)-1},(_,i)=>i+1)))
for (const kind of (kinds ?? "reducescatter,alltoall,allreduce,allgather").split(","))
for (const bytes of (sizes ?? "1024,1048576,1073741824").split(",").map(Number)) {
  const groups = { size: groupSize(mesh,set), members: meshGroups(mesh,set) };
  const request = askedCollective(t.npuCount, kind as any, groups, bytes);
  const t0 = performance.now();
  const { candidates } = candidatesFor(t, request);
  const t1 = performance.now();
  const made = candidates.filter(c => (c as any).traits?.library !== undefined);
  const out: string[] = [];
  let best = undefined as any;
  for (const m of (process.env.ONLY?made.filter(m=>process.env.ONLY.split(",").includes(m.name)):made.length>0?made:made).concat([])||candidates.filter(c=>c.name==="direct")) {
    const a = performance.now();
    try {
      const { schedule, report } = await contender(m, t, request, (asked: any) => synthesize(engine, t, asked, false), best);
      const b = performance.now();
      const {totalPs} = linkUseOf(schedule, report.schedule.pieces ?? 1, engine.kernels.replay);
      const c = performance.now();
      if (best===undefined || report.time.us<best) best = report.time.us;
      out.push(`${m.name} ${(b-a).toFixed(0)}+${(c-b).toFixed(0)}ms ${(totalPs/1e6).toFixed(1)}us syn=${report.synthesis.ms.toFixed(0)} tr=${report.schedule.transfers}`);
    } catch (e: any) { out.push(`${m.name} ${(performance.now()-a).toFixed(0)}ms ${e.message.slice(0,60)}`); }
  }
  console.log(set, kind, bytes, `cand ${(t1-t0).toFixed(0)}ms`, out.join(" | "));
}
await engine.close();
