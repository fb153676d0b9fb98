import { effect } from "@preact/signals";
import { formatTime } from "../../model/numbers/units.ts";
import { shownText } from "../parts/visible-texts.ts";
import { busy, made, network, program } from "../state/store.ts";

/** Returns what the window is called now. */
function titleNow(): string {
  const name = "Banyan";
  if (busy.value?.what === "make") return `Synthesizing... - ${name}`;
  if (program.value !== null) return `${program.value.name} - ${name}`;
  const last = made.value;
  if (last !== null) {
    const { report, totalPs } = last.schedule;
    return `${formatTime(totalPs)}, ${report.collective.kind} on ${report.topology.name || "a network"} - ${name}`;
  }
  const shown = network.value?.name ?? "";
  return shown === "" ? name : `${shown} - ${name}`;
}

/** Keeps the window's name; returns what ends that. */
export const followTitle = (): (() => void) =>
  effect(() => {
    document.title = shownText(titleNow());
  });
