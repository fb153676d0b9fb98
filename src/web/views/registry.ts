import type { FunctionComponent } from "preact";
import type { ViewName } from "../state/words.ts";
import type { ViewProps } from "./view-props.ts";

interface ViewEntry {
  /** On its tab. */
  readonly title: string;
  /** The question that it answers. */
  readonly question: string;
  /** It shows nothing without a schedule. */
  readonly needsSchedule: boolean;
  /** Its code is loaded when it is first shown. */
  readonly load: () => Promise<{ readonly View: FunctionComponent<ViewProps> }>;
}

export const VIEW_ENTRIES: Readonly<Record<ViewName, ViewEntry>> = {
  network: {
    title: "Network",
    question: "Who is linked with whom, and how fast?",
    needsSchedule: false,
    load: () => import("./network/view.tsx"),
  },
  bound: {
    title: "Limit",
    question: "Why can't it be faster?",
    needsSchedule: true,
    load: () => import("./bound/view.tsx"),
  },
  time: {
    title: "Time",
    question: "Which chunk is on which link, and who holds what?",
    needsSchedule: true,
    load: () => import("./time/view.tsx"),
  },
  trees: {
    title: "Trees",
    question: "Along which trees does the data flow?",
    needsSchedule: true,
    load: () => import("./trees/view.tsx"),
  },
  links: {
    title: "Links",
    question: "How busy is every link?",
    needsSchedule: true,
    load: () => import("./links/view.tsx"),
  },
  steps: {
    title: "Expanded",
    question: "What does the time-expanded network look like?",
    needsSchedule: true,
    load: () => import("./steps/view.tsx"),
  },
  compare: {
    title: "Compare",
    question: "Which algorithm is best at which size?",
    needsSchedule: false,
    load: () => import("./compare/view.tsx"),
  },
  training: {
    title: "Training",
    question: "What does a training step take, and what do better collectives gain?",
    needsSchedule: false,
    load: () => import("./training/view.tsx"),
  },
  plan: {
    title: "Plan",
    question: "How should the tensors of a step lie?",
    needsSchedule: false,
    load: () => import("./plan/view.tsx"),
  },
};
