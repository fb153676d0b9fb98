import type { Selection } from "../state/store.ts";

/** What a view wants to see on the network, beside the network itself; all of it optional. Colours are CSS colours or variables' names as "--name". */
export interface NetworkMarks {
  /** [nodes] how full a node is drawn, 0 .. 1. */
  readonly fill?: Float32Array;
  /** Nodes drawn in a colour of their own. */
  readonly nodes?: ReadonlyMap<number, NodeMark>;
  /** Wires drawn strongly, in a colour of their own; later ones lie on top. */
  readonly wires?: readonly WireMark[];
  /** [wires] 0 .. 1: every wire in a colour of the heat scale. */
  readonly heat?: Float32Array;
  /** All that is not marked is drawn pale. */
  readonly fadeOthers?: boolean;
  /** Things on their way. */
  readonly dots?: readonly Dot[];
}

export interface NodeMark {
  readonly colour: string;
  readonly ring?: boolean;
  /** A short text beside the node. */
  readonly text?: string;
}

export interface WireMark {
  readonly wire: number;
  readonly colour: string;
  /** An arrow from a to b (true) or from b to a (false); null: none. */
  readonly forward: boolean | null;
  readonly width?: number;
  readonly dashed?: boolean;
}

export interface Dot {
  readonly wire: number;
  readonly forward: boolean;
  /** 0 .. 1 of the way. */
  readonly at: number;
  readonly colour: string;
}

/** What can be asked of a drawn network. */
export interface NetworkCanvasProps {
  readonly network: import("../protocol.ts").NetworkView;
  /** What a screen reader says of the picture. */
  readonly label: string;
  readonly marks?: NetworkMarks;
  /** Given where nodes and wires can be chosen; otherwise the picture only shows. */
  readonly onSelect?: (selection: Selection | null) => void;
  readonly selection?: Selection | null;
  /** As CSS; a narrow page, and one without it, has the picture in its own proportions. */
  readonly height?: string;
  /** Goes to a node, a wire or the box of a group whenever this is another object. */
  readonly focus?: Focus | null;
  /** Given where nodes can be chosen by drawing a box around them: with Shift, or by any drag where `isBoxing`. */
  readonly onBox?: (nodes: readonly number[]) => void;
  readonly isBoxing?: boolean;
  /** Left out where the view has one of its own. */
  readonly hasLegend?: boolean;
}

/** What the camera is sent to. */
export interface Focus {
  readonly at: Selection | { readonly kind: "group"; readonly group: number };
}
