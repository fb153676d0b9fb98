/** A figure with one standard error. */
export interface FoundFigure {
  readonly value: number;
  readonly error: number;
}

/** Links, ports or trunks with the same figures. */
export interface FoundClass {
  readonly kind: string;
  readonly bytesPerSecond: FoundFigure;
  readonly members: readonly string[];
}

/** Ordered pairs of endpoints with the same figures, each flow alone. */
export interface FoundPairs {
  readonly latencyS: FoundFigure;
  /** Null where it follows from what the pairs share and was not measured. */
  readonly bytesPerSecond: FoundFigure | null;
  readonly pairs: number;
  /** The first of them. */
  readonly example: string;
}

/** What several ordered pairs share. */
export interface FoundSharing {
  readonly resource: string;
  readonly kind: string;
  readonly bytesPerSecond: FoundFigure;
  /** `a>b`. */
  readonly pairs: readonly string[];
}

/** A machine inside: names of endpoints. */
export interface FoundInside {
  readonly host: string;
  /** Those below each PCIe switch, and the CPU that it hangs on; inner switches in brackets of their own. */
  readonly switches: readonly {
    readonly cpu: string;
    readonly gpus: readonly string[];
    readonly nics: readonly string[];
    readonly inner: readonly { readonly gpus: readonly string[]; readonly nics: readonly string[] }[];
  }[];
  /** `a=b` with the number of NVLinks; empty where GPUs are on NVSwitches. */
  readonly nvlinks: readonly { readonly pair: string; readonly links: number }[];
  readonly switched: boolean;
  /** GPUs by usual numbers, and whose numbers. */
  readonly numbering: { readonly name: string; readonly gpus: readonly string[] };
}

/** What a probe found out, as text and JSON say it. Figures in bytes, seconds, bytes per second. */
export interface Findings {
  readonly format: "banyan-probe";
  readonly version: 1;
  readonly endpoints: number;
  readonly hosts: number;
  readonly bytes: number;
  readonly classes: readonly FoundClass[];
  readonly pairs: readonly FoundPairs[];
  readonly sharing: readonly FoundSharing[];
  /** Pairs that others forward, `a>c`, and by whom. */
  readonly forwarded: readonly { readonly pair: string; readonly by: readonly string[] }[];
  readonly machines: readonly FoundInside[];
  readonly check: {
    readonly experiments: number;
    readonly flows: number;
    readonly medianError: number;
    readonly worstError: number;
    readonly off: number;
  };
  /** In sentences; empty where all is explained. */
  readonly unexplained: readonly string[];
  readonly asked: { readonly batches: number; readonly experiments: number; readonly flows: number };
}
