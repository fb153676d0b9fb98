/** Returns the NPUs 0 to n - 1. */
export const everyone = (n: number): Int32Array => Int32Array.from({ length: n }, (_, npu) => npu);
