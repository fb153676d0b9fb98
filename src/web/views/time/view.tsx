import type { ViewProps } from "../registry.ts";

export function View({ network }: ViewProps) {
  return <p>{network.name}</p>;
}
