/** What the reader and the writer of our own files of tensor graphs share. */
export const TENSOR_GRAPH_FORMAT = "banyan-tensor-graph";
export const TENSOR_GRAPH_VERSION = 1;

/** Names of dimensions that stand as they are in the dimensions of nodes; others are quoted as JSON quotes them. */
export const PLAIN_DIMENSION = /^[A-Za-z0-9.]+$/;
/** In the dimensions of a node: one of size 1 that the node does not see. */
export const DROPPED_MARK = "_";
