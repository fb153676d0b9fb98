import type { ComponentChildren } from "preact";
import { percent, roundedSize } from "../../../report/amounts.ts";
import { Sideways } from "./sideways.tsx";

const MEMORY_PARTS = [
  ["parameters", "parameters", "--chart-1"],
  ["gradients", "gradients", "--chart-3"],
  ["optimizer", "optimiser", "--chart-2"],
  ["activations", "activations", "--chart-5"],
  ["working", "worked on", "--chart-4"],
] as const;

interface MemoryProps {
  /** Bytes of an NPU by what they are for. */
  readonly memory: Readonly<Record<(typeof MEMORY_PARTS)[number][0] | "total", number>>;
  readonly capacity: number;
  /** Which NPU it is, where not all are alike. */
  readonly where?: string;
}

/** The memory of an NPU by what it is for, against what it has. */
export function Memory({ memory, capacity, where = "" }: MemoryProps) {
  const parts = MEMORY_PARTS.filter(([part]) => memory[part] > 0);
  const text = `${roundedSize(memory.total)} of ${roundedSize(capacity)} (${percent(memory.total / capacity)})`;
  return (
    <section class="step-block" aria-label="Memory">
      <h3>
        Memory of an NPU{where}: <span class="step-plain">{text}</span>
      </h3>
      <Bar
        label={`Memory: ${parts.map(([part, name]) => `${name} ${roundedSize(memory[part])}`).join(", ")}, of ${roundedSize(capacity)}`}
        parts={parts.map(([part, , colour]) => [colour, memory[part] / capacity])}
      />
      <Key entries={parts.map(([part, name, colour]) => [colour, `${name} ${roundedSize(memory[part])}`])} />
    </section>
  );
}

interface BarProps {
  readonly label: string;
  /** Colours (CSS variables) and shares of the width. */
  readonly parts: readonly (readonly [colour: string, share: number])[];
}

/** A bar of parts beside each other. */
export const Bar = ({ label, parts }: BarProps) => (
  <div class="step-stack" role="img" aria-label={label}>
    {parts.map(([colour, share]) => (
      <span
        key={colour}
        data-bubble={colour === "--step-bubble"}
        style={{ width: `${100 * share}%`, backgroundColor: `var(${colour})` }}
      />
    ))}
  </div>
);

/** What the colours of bars are. */
export const Key = ({ entries }: { readonly entries: readonly (readonly [colour: string, text: string])[] }) => (
  <ul class="step-key">
    {entries.map(([colour, text]) => (
      <li key={text}>
        <i data-bubble={colour === "--step-bubble"} style={{ backgroundColor: `var(${colour})` }} />
        {text}
      </li>
    ))}
  </ul>
);

interface FoldedProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}

export const Folded = ({ title, isOpen = false, children }: FoldedProps) => (
  <details class="step-block" open={isOpen}>
    <summary>
      <h3>{title}</h3>
    </summary>
    <Sideways label={title}>{children}</Sideways>
  </details>
);
