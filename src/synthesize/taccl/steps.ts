import type { Collective } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import { type RoutingSymmetry, routingSymmetry } from "./routing-symmetry.ts";
import { tasksOf, timing } from "./scheduling.ts";
import { clockOf, join, type Plan, singles } from "./scheduling-clock.ts";
import type { Tasks } from "./scheduling-tasks.ts";
import type { Sends } from "./stages.ts";
import { type DigitSends, type Digits, digitSends, digitsToTry } from "./steps-digits.ts";

/** More sends are no matter of latency. */
const MOST_SENDS = 8000;

/** Ways of few steps with what goes together. */
export interface Stepped {
  readonly tasks: Tasks;
  readonly plan: Plan;
  readonly endPs: number;
  readonly name: string;
}

/**
 * Returns the ways of few steps (see Digits) that end first when the sends of a step go together, or null where the sketch has
 * none; `note` tells where its symmetry is against better ones. Stage 1 cannot find them: it counts a latency for every chunk
 * inside a box, and ways there are the shortest ones, so that nothing passes a third NPU where all are neighbours.
 * O(ways tried * sends (log sends + rotations)).
 */
export function stepped(
  network: SketchNetwork,
  collective: Collective,
): { readonly best: Stepped | null; readonly note: string | null } {
  const times = timing(network, collective);
  const symmetry = routingSymmetry(network, collective);
  const isOneBox = network.sketch.boxes === 1;
  let best: Stepped | null = null;
  let left: Stepped | null = null;
  for (const digits of digitsToTry(network)) {
    const sends = digitSends(network, collective, digits, MOST_SENDS);
    if (sends === null || sends.chunk.length === 0) continue;
    const tasks = tasksOf(network, collective, sends, times);
    const clock = clockOf(tasks);
    const isKept = isSymmetric(sends, symmetry, routeCount(network.routes));
    for (const stepOf of isOneBox ? GROUPINGS.slice(0, 1) : GROUPINGS) {
      const plan = together(sends, stepOf);
      const endPs = clock.run(plan);
      const most = (isKept ? best : left)?.endPs ?? Number.POSITIVE_INFINITY;
      if (endPs >= most) continue;
      const found: Stepped = { tasks, plan, endPs, name: nameOf(digits, isOneBox) };
      if (isKept) best = found;
      else left = found;
    }
  }
  const isWorse = left !== null && left.endPs < (best?.endPs ?? Number.POSITIVE_INFINITY);
  return { best, note: isWorse ? `symmetry_offsets leave out ways ${left?.name}` : null };
}

/** What tells sends of a route apart that do not go together: digits; digits of each box on the way; times. */
const GROUPINGS: readonly ((sends: DigitSends, send: number) => number)[] = [
  ({ place }, send) => place[send],
  ({ place, level, stage }, send) => (place[send] < 0 ? -1 : level[send] * stage.length + place[send]),
  ({ stage }, send) => stage[send],
];

/** Returns the plan in which sends of equal route and step are one message; earlier stages go first, then lesser digits. */
function together(sends: DigitSends, stepOf: (sends: DigitSends, send: number) => number): Plan {
  const { stage, digit } = sends;
  const most = digit.reduce((a, b) => Math.max(a, b), 0) + 1;
  const plan = singles(Float64Array.from(stage, (at, send) => at * most + digit[send]));
  const leaders = new Map<string, number>();
  sends.route.forEach((route, send) => {
    const key = `${route} ${stepOf(sends, send)}`;
    const leader = leaders.get(key);
    if (leader === undefined) {
      leaders.set(key, send);
      return;
    }
    plan.key[leader] = Math.max(plan.key[leader], plan.key[send]);
    join(plan, leader, send);
  });
  return plan;
}

/** Returns whether every rotation in use maps sends onto sends. O(maps * sends). */
function isSymmetric({ chunk, route }: Sends, { maps }: RoutingSymmetry, routes: number): boolean {
  const sent = new Set(Array.from(chunk, (c, send) => c * routes + route[send]));
  return maps.every(({ chunkTo, routeTo }) =>
    chunk.every((c, send) => sent.has(chunkTo[c] * routes + routeTo[route[send]])),
  );
}

function nameOf({ inside, boxRadix }: Digits, isOneBox: boolean): string {
  const offsets = inside.xor ? "bitwise offsets" : "offsets";
  return `in steps, by digits of ${offsets} to base ${inside.radix}${isOneBox ? "" : `, of boxes to base ${boxRadix}`}`;
}
