import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Zooming, zooming } from "../../draw/zooming.ts";
import { actOnKey } from "../../parts/keys.ts";
import { OneOf } from "../../parts/one-of.tsx";
import { ZoomTools } from "../../parts/zoom-tools.tsx";
import type { PlanNode, PlanPart, PlanView, TensorFacts } from "../../plan-protocol.ts";
import { Details } from "./details.tsx";
import { axisColour, lieText, whatBecomes } from "./looks.ts";
import {
  type Box,
  type Direction,
  type Mesh,
  nodeTowards,
  type Picture,
  type Piece,
  pathOf,
  pictureOf,
} from "./picture.ts";

/** Around the picture, as the camera leaves it. */
const MARGIN = 14;
/** For the camera's limits: about half a box. */
const RADIUS = 40;

/** Returns what a part is called on its tab. */
function titleOf({ count, name }: PlanPart, at: number, repeated: number): string {
  if (count > 1) return `${(name ?? "part").replace(/\s*\d+$/, "")} × ${count}`;
  return repeated < 0 ? "all" : at < repeated ? "before" : "behind";
}

/** The graph of tensors: what each pass does in a part that stands for all equal ones, with where everything lies. */
export function PlanGraph({ view }: { readonly view: PlanView }) {
  const phase = useSignal<PlanPart["phase"]>("forward");
  const chosen = useSignal<number | null>(null);
  const ofPhase = view.parts.filter((part) => part.phase === phase.value);
  const largest = ofPhase.reduce((best, { count, nodes }, i) => {
    const most = ofPhase[best] as PlanPart;
    return count * nodes.length > most.count * most.nodes.length ? i : best;
  }, 0);
  const at = Math.min(chosen.value ?? largest, ofPhase.length - 1);
  const part = ofPhase[at];
  const repeated = ofPhase.findIndex(({ count }) => count > 1);
  if (part === undefined) return null;
  return (
    <section class="step-block plan-graph" aria-label="The graph of tensors">
      <h3>Where every tensor lies</h3>
      <div class="step-bar">
        <OneOf
          title="Pass"
          choices={[
            ["forward", "forward"],
            ["backward", "backward"],
          ]}
          value={phase.value}
          onChange={(next) => {
            phase.value = next;
            chosen.value = null;
          }}
        />
        {ofPhase.length > 1 && (
          <OneOf
            title="Part"
            choices={ofPhase.map((one, i) => [i, titleOf(one, i, repeated)] as const)}
            value={at}
            onChange={(next) => {
              chosen.value = next;
            }}
          />
        )}
      </div>
      <Legend mesh={view.report.plan.mesh} />
      <Drawn key={`${phase.value} ${at}`} part={part} view={view} />
    </section>
  );
}

function Legend({ mesh }: { readonly mesh: Mesh }) {
  return (
    <ul class="plan-legend" aria-label="Legend">
      {mesh.map(({ name, size }, axis) => (
        <li key={name}>
          <i class="plan-axis" style={{ "--axis": `var(${axisColour(axis)})` }}>
            {name}
          </i>
          axis of {size} NPUs
        </li>
      ))}
      <li>
        <i class="plan-lie" data-letter="R">
          R
        </i>
        whole on each
      </li>
      <li>
        <i class="plan-lie" data-letter="S">
          S samples
        </i>
        dealt by samples
      </li>
      <li>
        <i class="plan-lie" data-letter="P">
          P
        </i>
        a summand on each
      </li>
      <li>
        <i class="plan-retention" data-what="kept">
          kept
        </i>
        for the backward pass
      </li>
      <li>
        <i class="plan-retention" data-what="again">
          again
        </i>
        made again there
      </li>
      <li>
        <i class="plan-sample" />
        inside a kernel, or simple
      </li>
      <li>
        <i class="plan-sample" data-moves />a collective: kind, axes, size, time
      </li>
    </ul>
  );
}

/** Returns a node in words. */
function wordsOf(node: PlanNode, tensors: readonly TensorFacts[], mesh: Mesh): string {
  if (node.kind === "to") return "goes on to other parts";
  const tensor = tensors[node.tensor] as TensorFacts;
  if (node.kind === "brought") {
    const moves = node.copy.moves.map(({ kind, axes }) => `${kind} along ${axes}`).join(", then ") || "parts are taken";
    return `${tensor.name} brought by ${moves}: ${lieText(tensor, node.copy.lies, mesh)}`;
  }
  const from = node.kind === "from" ? (node.isKept ? ", kept from the forward pass" : ", from before") : "";
  const again = node.kind === "made" && node.isAgain ? ", made again" : from;
  return `${tensor.name}${again}: ${lieText(tensor, tensor.lies, mesh)}${node.kind === "made" ? whatBecomes(tensor) : ""}`;
}

interface DrawnProps {
  readonly part: PlanPart;
  readonly view: PlanView;
}

/** A part drawn as wide as there is room, and what its node says that is pointed at, or chosen. */
function Drawn(props: DrawnProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useLayoutEffect(() => {
    const element = place.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth;
    });
    width.value = element.clientWidth;
    observer.observe(element);
    return () => observer.disconnect();
  }, [width]);
  return (
    <div ref={place} class="plan-place">
      {width.value > 0 && <DrawnIn {...props} width={width.value} />}
    </div>
  );
}

/** Beside the details where both have room. */
const DETAILS = 302;
const LEAST_BESIDE = 760;

function DrawnIn({ part, view: { tensors, report }, width }: DrawnProps & { readonly width: number }) {
  const { mesh } = report.plan;
  const isBeside = width >= LEAST_BESIDE;
  const room = width - 2 * MARGIN - 2 - (isBeside ? DETAILS : 0);
  const picture = useMemo(() => pictureOf(part, tensors, room), [part, tensors, room]);
  const pointed = useSignal<number | null>(null);
  const chosen = useSignal<number | null>(null);
  /** The one that keys reach. */
  const current = useSignal(0);
  const { frame, sheet, zoomed, height } = useCamera(picture);
  const shown = pointed.value ?? chosen.value;
  const go = (direction: Direction) => () => {
    const next = nodeTowards(picture, current.value, direction);
    current.value = next;
    sheet.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
  };
  return (
    <div class="plan-body" data-beside={isBeside}>
      <div class="plan-picture">
        {/* biome-ignore lint/a11y/useSemanticElements: a picture of buttons, which is no set of fields */}
        <div
          ref={frame}
          class="plan-frame"
          role="group"
          aria-label={`${part.nodes.length} nodes, ${part.phase}; arrows go from one to the next, + and - zoom`}
          style={{ height: `${height}px` }}
          onKeyDown={(event) =>
            actOnKey(event, {
              ArrowUp: go("up"),
              ArrowDown: go("down"),
              ArrowLeft: go("left"),
              ArrowRight: go("right"),
              "+": () => zoomed.current?.by(1.5),
              "=": () => zoomed.current?.by(1.5),
              "-": () => zoomed.current?.by(1 / 1.5),
              "0": () => zoomed.current?.fit(),
            })
          }
        >
          <div ref={sheet} class="plan-sheet" style={{ width: `${picture.width}px`, height: `${picture.height}px` }}>
            <Lines picture={picture} part={part} shown={shown} />
            {part.nodes.map((node, i) => (
              <Node
                key={i}
                node={node}
                box={picture.boxes[i] as Box}
                left={(picture.x[i] as number) - (picture.boxes[i] as Box).width / 2}
                top={(picture.y[i] as number) - (picture.boxes[i] as Box).height / 2}
                words={wordsOf(node, tensors, mesh)}
                mesh={mesh}
                isChosen={chosen.value === i}
                isReached={current.value === i}
                onPoint={(on) => {
                  pointed.value = on ? i : null;
                }}
                onReach={() => {
                  current.value = i;
                  pointed.value = i;
                }}
                onChoose={() => {
                  chosen.value = chosen.value === i ? null : i;
                  pointed.value = chosen.value;
                }}
              />
            ))}
          </div>
        </div>
        <div class="plan-tools">
          <ZoomTools of="the graph" zoomed={zoomed} />
        </div>
      </div>
      <Details
        node={shown === null ? null : (part.nodes[shown] as PlanNode)}
        tensors={tensors}
        mesh={mesh}
        onClose={() => {
          chosen.value = null;
          pointed.value = null;
        }}
      />
    </div>
  );
}

/** A frame as wide as there is room, in which all of a picture is seen, no larger than it is, until one zooms. */
function useCamera({ width, height }: Picture) {
  const frame = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const zoomed = useRef<Zooming | null>(null);
  const tall = useSignal(height + 2 * MARGIN);
  useLayoutEffect(() => {
    const element = frame.current as HTMLDivElement;
    const fit = (): { width: number; height: number } => {
      const wide = element.clientWidth;
      const scale = Math.min(1, Math.max(0.05, (wide - 2 * MARGIN) / width));
      return { width: wide, height: Math.round(height * scale + 2 * MARGIN) };
    };
    tall.value = fit().height;
    const camera = zooming(
      element,
      { width, height, radius: RADIUS },
      // the wheel moves the page
      (event) => event.type === "wheel" && !event.ctrlKey,
      ({ k, x, y }) => {
        if (sheet.current !== null) sheet.current.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
      },
    );
    zoomed.current = camera;
    const observer = new ResizeObserver(() => {
      const view = fit();
      if (view.width === 0) return;
      tall.value = view.height;
      camera.resize(view);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      camera.end();
    };
  }, [width, height, tall]);
  return { frame, sheet, zoomed, height: tall.value };
}

interface LinesProps {
  readonly picture: Picture;
  readonly part: PlanPart;
  readonly shown: number | null;
}

/** Lines from what is made to who takes it. */
const Lines = ({ picture: { width, height, ways }, part, shown }: LinesProps) => (
  <svg width={width} height={height} aria-hidden="true">
    {part.edges.map(([from, to], i) => {
      const way = ways[i] as (typeof ways)[number];
      const [x, y] = way.at(-1) as readonly [number, number];
      return (
        <g key={`${from} ${to}`} class="plan-line" data-on={from === shown || to === shown}>
          <path d={pathOf(way)} fill="none" />
          <path d={`M${x} ${y}l-3.5 -6h7Z`} class="plan-head" />
        </g>
      );
    })}
  </svg>
);

interface NodeProps {
  readonly node: PlanNode;
  readonly box: Box;
  readonly left: number;
  readonly top: number;
  /** The same in words. */
  readonly words: string;
  readonly mesh: Mesh;
  readonly isChosen: boolean;
  readonly isReached: boolean;
  readonly onPoint: (on: boolean) => void;
  readonly onReach: () => void;
  readonly onChoose: () => void;
}

function Node(props: NodeProps) {
  const id = useId();
  const { node, box, left, top, words, mesh, isChosen, isReached, onPoint, onReach, onChoose } = props;
  return (
    <>
      <button
        type="button"
        class="plan-node"
        data-kind={node.kind}
        data-quiet={box.isQuiet}
        aria-describedby={id}
        aria-pressed={isChosen}
        tabIndex={isReached ? 0 : -1}
        style={{ left: `${left}px`, top: `${top}px`, width: `${box.width}px`, height: `${box.height}px` }}
        onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(true)}
        onPointerLeave={() => onPoint(false)}
        onFocus={onReach}
        onBlur={() => onPoint(false)}
        onClick={onChoose}
      >
        {box.rows.map((row, i) => (
          <span key={i} class="plan-row" style={{ height: `${row.height}px` }}>
            {row.pieces.map((piece, k) => (
              <PieceOf key={k} piece={piece} mesh={mesh} />
            ))}
          </span>
        ))}
      </button>
      <span id={id} hidden>
        {words}
      </span>
    </>
  );
}

function PieceOf({ piece, mesh }: { readonly piece: Piece; readonly mesh: Mesh }) {
  if (piece.kind === "lie")
    return (
      <span class="plan-lies">
        <i class="plan-axis" style={{ "--axis": `var(${axisColour(piece.axis)})` }}>
          {mesh[piece.axis]?.name}
        </i>
        <i class="plan-lie" data-letter={piece.letter}>
          {piece.dim === "" ? piece.letter : `${piece.letter} ${piece.dim}`}
        </i>
      </span>
    );
  const { style, text } = piece;
  if (style === "kept" || style === "again" || style === "dropped")
    return (
      <span class="plan-retention" data-what={style}>
        {text}
      </span>
    );
  // rows are read as one text
  return <span class={`plan-${style}`}>{`${text} `}</span>;
}
