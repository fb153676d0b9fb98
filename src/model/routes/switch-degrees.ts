import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { some } from "../topology/modify.ts";
import type { Topology } from "../topology/topology.ts";

/** Degrees of unwinding by names of switches, in which `*` stands for any characters; 1 where none fits. */
export type SwitchDegrees = Readonly<Record<string, number>>;

/** How NPUs reach each other through switches: a degree of unwinding, or every pair, sharing ports slot by slot. */
export type SwitchDegree = number | "ports" | SwitchDegrees;

/** Returns a degree in words: "ports", "degree 2", "degrees nvsw*=7,rail*=1". */
export function degreeText(degree: SwitchDegree): string {
  if (typeof degree === "object") return `degrees ${degreePairs(degree)}`;
  return degree === "ports" ? degree : `degree ${degree}`;
}

const degreePairs = (degrees: SwitchDegrees): string =>
  Object.entries(degrees)
    .map(([name, degree]) => `${name}=${degree}`)
    .join(",");

/** Returns the greatest degree of unwinding; 0 for ports. */
export function mostDegree(degree: SwitchDegree): number {
  return degree === "ports" ? 0 : typeof degree === "number" ? degree : Math.max(1, ...Object.values(degree));
}

/** Returns the degree of every connected set of switches. Throws InputError for a name that fits no switch, and for a set of two degrees. */
export function degreesOf(
  topology: Topology,
  components: readonly { readonly switches: ArrayLike<number> & Iterable<number> }[],
  degree: Exclude<SwitchDegree, "ports">,
): number[] {
  if (typeof degree === "number") return components.map(() => degree);
  const refused = (why: string): InputError =>
    new InputError(optionName("switchDegree"), "degrees by names of switches", degreePairs(degree)).saying(
      `${optionName("switchDegree")}: ${why}`,
    );
  const unused = new Set(Object.keys(degree));
  const patterns = Object.entries(degree).map(([name, own]) => {
    const parts = name.split("*").map((part) => part.replace(/[^\w]/g, "\\$&"));
    return { name, own, fits: new RegExp(`^${parts.join(".*")}$`, "s") };
  });
  const degrees = components.map(({ switches }) => {
    let first: { readonly called: string; readonly own: number } | null = null;
    for (const node of switches) {
      const called = topology.nodeNames[node] as string;
      const found = patterns.find(({ fits }) => fits.test(called));
      if (found === undefined) continue;
      unused.delete(found.name);
      if (first !== null && first.own !== found.own)
        throw refused(
          `${first.called} (${first.own}) and ${called} (${found.own}) are connected switches, which are unwound together: one degree for both`,
        );
      first ??= { called, own: found.own };
    }
    return first?.own ?? 1;
  });
  const [none] = unused;
  if (none === undefined) return degrees;
  const names = topology.nodeNames.slice(topology.npuCount);
  const there = names.length === 0 ? "the network has no switches" : `its switches are ${some(names)}`;
  const taken = patterns.some(({ name, fits }) => name !== none && fits.test(none));
  throw refused(`no switch is called ${none}${taken ? " that an earlier name does not fit" : ""}; ${there}`);
}
