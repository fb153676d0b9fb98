/** What NCCL's own cost model says of a collective: not a measurement. */
export interface NcclEstimate {
  readonly algorithm: "Ring" | "Tree" | "NVLS" | "NVLSTree" | "PAT";
  readonly protocol: "LL" | "LL128" | "Simple";
  readonly channels: number;
  readonly us: number;
}
