import { InputError } from "../../base/errors.ts";
import type { Collective, CollectiveKind } from "../../model/collective/collective.ts";
import { quickerOrder } from "../../model/messages/list-order.ts";
import { listSchedule } from "../../model/messages/list-schedule.ts";
import type { Messages } from "../../model/messages/messages.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { goodChunks } from "./own-chunks.ts";

export interface BaselineRequest {
  readonly topology: Topology;
  readonly collective: Collective;
  /** One of the policies; "" where there are none. */
  readonly policy: string;
}

/** An algorithm that says which messages are sent in which order, whatever the network. */
export interface Baseline {
  readonly name: string;
  readonly description: string;
  readonly collectives: readonly CollectiveKind[];
  /** The first is what is done where none is asked for. */
  readonly policies?: readonly string[];
  refuses?(topology: Topology, collective: Collective): string | null;
  /** Returns how many rings or trees, each with thread blocks of its own, share the chunks; without it one. */
  lanes?(request: BaselineRequest): number;
  /** Returns of what the number of chunks per NPU should be a multiple where size is all; without it the number of lanes. */
  unit?(request: BaselineRequest): number;
  /** Whether chunks follow each other, so that more than a unit of them may be faster. */
  pipelines?(kind: CollectiveKind): boolean;
  issue(request: BaselineRequest): Messages;
  /** Returns in words what was done. */
  words(request: BaselineRequest): string;
}

/**
 * Returns the synthesizer that puts a baseline's messages on shortest paths, each as early as links and data allow;
 * where chunks are cut for lanes or pipelines, in the order in which they are ready if that is quicker.
 */
export function fromBaseline(baseline: Baseline): Synthesizer {
  const { name, description, collectives, policies = [], lanes, pipelines, issue, words } = baseline;
  const refuses = baseline.refuses ?? (() => null);
  const asked = ({ topology, collective, policy }: SynthesisRequest): BaselineRequest => {
    const refusal = refuses(topology, collective);
    if (refusal !== null) {
      throw new InputError("the topology", refusal, `${topology.name}, ${collective.groupSize} NPUs`);
    }
    return { topology, collective, policy: policy ?? policies[0] ?? "" };
  };
  const cuts = lanes !== undefined || pipelines !== undefined;
  return {
    name,
    description,
    collectives,
    policies,
    refuses,
    ...(cuts && {
      async ownChunks(request) {
        const one = asked(request);
        const many = lanes?.(one) ?? 1;
        return goodChunks({
          ...one,
          lanes: many,
          unit: baseline.unit?.(one) ?? many,
          pipelines: pipelines?.(one.collective.kind) ?? false,
          issue: (collective) => issue({ ...one, collective }),
        });
      },
    }),
    async synthesize(request) {
      const one = asked(request);
      const { topology, collective } = one;
      const issued = issue(one);
      const list = cuts ? quickerOrder(topology, collective, issued) : issued;
      return { schedule: listSchedule(topology, collective, list), policy: words(one), trials: 1 };
    },
  };
}

/** Returns "one group ..." where the collective is not among all NPUs; null where it is. */
export const refuseGroups = (
  name: string,
  { npuCount }: Topology,
  { groupCount, groupSize }: Collective,
): string | null => (groupCount === 1 && groupSize === npuCount ? null : `one group of all NPUs for ${name}`);
