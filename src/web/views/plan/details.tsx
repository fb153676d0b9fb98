import { roundedSize, timeText } from "../../../report/amounts.ts";
import { Icon } from "../../parts/icon.tsx";
import type { PlanNode, PlannedCopy, TensorFacts } from "../../plan-protocol.ts";
import { lieText, operationText, ownSizes } from "./looks.ts";
import type { Mesh } from "./picture.ts";

interface DetailsProps {
  readonly node: PlanNode | null;
  readonly tensors: readonly TensorFacts[];
  readonly mesh: Mesh;
  readonly onClose: () => void;
}

/** All that is known of a node's tensor, and of the parameters that it takes. */
export function Details({ node, tensors, mesh, onClose }: DetailsProps) {
  if (node === null || node.kind === "to") {
    return (
      <aside class="plan-details plan-empty" aria-label="Tensor">
        <p class="soft">
          {node === null
            ? "Point at a tensor, or choose it, to see all of it."
            : "What is made here is taken by what comes next."}
        </p>
      </aside>
    );
  }
  const of = (at: number): TensorFacts => tensors[at] as TensorFacts;
  const given = node.kind === "made" ? node.given : [];
  return (
    <aside class="plan-details" aria-label="Tensor">
      <button type="button" class="quiet icon plan-close" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
      <Tensor tensor={of(node.tensor)} mesh={mesh} />
      {given.map(({ tensor }) => (
        <Tensor key={tensor} tensor={of(tensor)} mesh={mesh} />
      ))}
      {node.kind === "made" && node.updates !== null && <Tensor tensor={of(node.updates.tensor)} mesh={mesh} />}
    </aside>
  );
}

const WHEN = { forward: "Forward", backward: "Backward", update: "For the update" } as const;
const AFTER = {
  kept: "kept for the backward pass",
  again: "made again in the backward pass",
  dropped: "dropped: the backward pass does not want it",
} as const;

function Tensor({ tensor, mesh }: { readonly tensor: TensorFacts; readonly mesh: Mesh }) {
  const { name, dims, lies, bytes, ownBytes, elementBytes, isFused, retention, home, copies } = tensor;
  const sizes = dims.map(({ name: dim, size }) => `${dim} ${size}`).join(" × ") || "a number";
  const own = ownSizes(tensor, lies, mesh).join(" × ") || "1";
  const rows: (readonly [string, string])[] = [
    ["Sizes", sizes],
    ["Lies", lieText(tensor, lies, mesh)],
    ["On an NPU", `${own}, ${elementBytes} bytes each`],
    ["Memory", isFused ? "none: it stays inside a kernel" : `${roundedSize(ownBytes)} of ${roundedSize(bytes)}`],
    ...(retention === null ? [] : [["Afterwards", AFTER[retention]] as const]),
    ...(tensor.streamed === null ? [] : [["Streamed", `with ${tensor.streamed}, beside the product`] as const]),
    ...copies.map((copy) => [WHEN[copy.when], copyText(tensor, copy, mesh)] as const),
    ...(home === null ? [] : [["Its update", `its optimiser's state lies ${lieText(tensor, home, mesh)}`] as const]),
    ...(tensor.gradient === null ? [] : [["Gradient", tensor.gradient] as const]),
    ...(tensor.parameter === null ? [] : [["Updates", tensor.parameter] as const]),
    ...listed("Made of", tensor.madeOf),
    ...listed("Taken by", tensor.takenBy),
  ];
  return (
    <section class="plan-tensor">
      <h4>{name}</h4>
      <p class="soft">{operationText(tensor)}</p>
      <dl>
        {rows.map(([what, text]) => (
          <div key={`${what} ${text}`}>
            <dt>{what}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** So many names are said. */
const MOST_NAMES = 6;

function listed(what: string, names: readonly string[]): (readonly [string, string])[] {
  if (names.length === 0) return [];
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return [[what, names.slice(0, MOST_NAMES).join(", ") + more]];
}

function copyText(tensor: TensorFacts, { lies, moves }: PlannedCopy, mesh: Mesh): string {
  const by = moves.map(
    ({ kind, axes, bytes, us, algorithm }) =>
      `${kind} along ${axes}, ${roundedSize(bytes)}, ${timeText(us)} by ${algorithm}`,
  );
  return `brought to lie ${lieText(tensor, lies, mesh)}: ${by.join("; then ") || "parts are taken"}`;
}
