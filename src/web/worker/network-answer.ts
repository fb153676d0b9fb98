import type { Ask, NetworkView } from "../protocol.ts";
import { networkView } from "./network-view.ts";
import { partAndWholeOf } from "./networks.ts";

/** Answers "network". */
export async function network({ wish }: Ask<"network">): Promise<NetworkView> {
  const { topology, whole } = await partAndWholeOf(wish);
  return networkView(topology, whole);
}
