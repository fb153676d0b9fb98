import type { Random } from "../../src/base/random.ts";
import type { Json } from "./claimed-files.ts";
import { pick } from "./draws.ts";

/** Ways to claim more than is proved, or to prove it worse. Each returns the claim that is now false; null where it does not apply. */
type Strengthening = (file: Json, draws: Random) => string | null;

/** Returns a fraction that is greater by a little or by much. */
function raised(text: string, draws: Random): string {
  const [num, den = "1"] = text.split("/");
  const more = [BigInt(num as string) + 1n, BigInt(num as string) + BigInt(den), 2n * BigInt(num as string) + 1n];
  return `${pick(more, draws)}/${den}`;
}

/** Returns the limit or the limit of the class, whichever is drawn and there. */
function limitOf({ claims }: Json, draws: Random): readonly [claim: string, limit: Json] {
  const useClass = claims.classLimit !== null && draws.below(2) === 0;
  return useClass ? ["class limit", claims.classLimit] : ["limit", claims.limit];
}

/** Changes a witness where it has what is wanted. */
const ofWitness =
  (change: (witness: Json, draws: Random, file: Json) => boolean): Strengthening =>
  (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    return change(limit.witness, draws, file) ? claim : null;
  };

const namesOf = (file: Json): string[] => file.topology.nodes.map(({ id }: Json) => id);

export const STRENGTHENINGS: Readonly<Record<string, Strengthening>> = {
  "a lower time": ({ claims: { time } }, draws) => {
    time.ps -= pick([1, 1, 1000, Math.ceil(time.ps / 2)], draws);
    return "time";
  },
  "a higher limit": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "a higher throughput": ({ claims: { throughput } }, draws) => {
    if (throughput === undefined) return null;
    throughput.bytesPerSecond = raised(throughput.bytesPerSecond, draws);
    return "throughput";
  },
  "a class limit for any algorithm": ({ claims }) => {
    const { classLimit } = claims;
    if (classLimit === null) return null;
    const { of: _, holdsFor: __, ...limit } = classLimit;
    claims.limit = limit;
    return "limit";
  },
  "another class": ({ claims: { classLimit } }, draws) => {
    if (classLimit === null) return null;
    const classes = {
      "whole chunks": "whole chunks over these routes",
      "forwarding switches": "switches that only forward",
      "sums at one NPU": "each byte summed at one NPU",
      phases: "one dimension after the other",
    };
    const [of, holdsFor] = pick(
      Object.entries(classes).filter(([name]) => name !== classLimit.of),
      draws,
    );
    if (draws.below(2) === 0) classLimit.of = of;
    classLimit.holdsFor = draws.below(3) === 0 ? "any algorithm" : holdsFor;
    return "class limit";
  },
  "another kind": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const kind = pick(["cut", "latency", "work", "lengths", "dual", "tail", "nothing", "proof"], draws);
    if (kind === limit.kind) return null;
    limit.kind = kind;
    if (draws.below(2) === 0) limit.witness.kind = kind;
    return claim;
  },
  "less bandwidth": ofWitness((witness, draws) => {
    if (witness.bytesPerSecond === undefined) return false;
    witness.bytesPerSecond = String(BigInt(witness.bytesPerSecond) - pick([1n, 1000n], draws));
    return true;
  }),
  "more chunks": ofWitness((witness, draws) => {
    if (witness.chunks !== undefined) witness.chunks += 1 + draws.below(3);
    else if (witness.bytes !== undefined) witness.bytes = raised(witness.bytes, draws);
    else return false;
    return true;
  }),
  "more nodes": ofWitness((witness, draws, file) => {
    if (witness.nodes === undefined) return false;
    const others = namesOf(file).filter((name) => !witness.nodes.includes(name));
    witness.nodes.push(others.length > 0 ? pick(others, draws) : witness.nodes[0]);
    return true;
  }),
  "fewer nodes": ofWitness((witness, draws) => {
    if (witness.nodes === undefined) return false;
    witness.nodes.splice(draws.below(witness.nodes.length), 1);
    return true;
  }),
  "more nodes, counted, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const { witness } = limit;
    if (witness.nodes === undefined) return null;
    const others = namesOf(file).filter((name) => !witness.nodes.includes(name));
    if (others.length === 0) return null;
    const more = pick(others, draws);
    witness.nodes.push(more);
    witness.nodeCount++;
    if (file.topology.nodes.find(({ id }: Json) => id === more).kind === "npu") witness.npusInside++;
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "the other way, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const { witness } = limit;
    if (witness.direction === undefined) return null;
    witness.direction = witness.direction === "in" ? "out" : "in";
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "what nobody checks": ofWitness((witness, draws) => {
    witness[pick(["optimal", "proof", "of"], draws)] = true;
    return true;
  }),
  "other parts, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const { witness } = limit;
    if (witness.parts === undefined) return null;
    const run = pick(witness.nodes as number[][], draws);
    if (draws.below(2) === 0) run[2] = 1 - (run[2] as number);
    else witness.side = witness.side === "in" ? "out" : "in";
    if (draws.below(3) === 0) witness.parts += pick([1, -1], draws);
    if (draws.below(2) === 0) witness.along.pop();
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "less on the way, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const { witness } = limit;
    if (witness.leastLagPs === undefined) return null;
    if (draws.below(2) === 0) witness.leastLagPs += pick([1, -1], draws);
    else limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "later, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    if (limit.witness.afterPs === undefined) return null;
    limit.witness.afterPs += 1 + draws.below(5);
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "other lengths, for more": (file, draws) => {
    const [claim, limit] = limitOf(file, draws);
    const lengths = limit.witness.lengths;
    if (lengths === undefined) return null;
    lengths[draws.below(lengths.length)] += 1;
    limit.ps = raised(limit.ps, draws);
    return claim;
  },
  "lighter sets": ({ claims: { classLimit } }, draws) => {
    if (classLimit?.kind !== "dual") return null;
    const cut = pick(classLimit.witness.cuts as Json[], draws);
    cut.weight = draws.below(2) === 0 ? "0" : raised(cut.weight, draws);
    classLimit.ps = raised(classLimit.ps, draws);
    return "class limit";
  },
  "a row less": (file, draws) => {
    const part = file.tenants === undefined ? file : pick(file.tenants as Json[], draws);
    const rows = part.transfers ?? part.phases;
    if (rows === undefined) return null;
    const at = draws.below(rows.chunk.length);
    for (const column of Object.values(rows)) if (Array.isArray(column)) column.splice(at, 1);
    rows.count--;
    return "rules";
  },
};
