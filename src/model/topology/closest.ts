/** Returns the number of single-character insertions, deletions, replacements and neighbour swaps between two words. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      let best = Math.min(row[j - 1] + 1, previous[j] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2] + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length];
}

/**
 * Returns the candidate most like `word` (fewest edits, capitals aside; the earliest of equals), or null when none is within
 * a third of its length. For "did you mean".
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  const lower = word.toLowerCase();
  let limit = Math.max(1, Math.floor(word.length / 3)) + 1;
  let best: string | null = null;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - lower.length) >= limit) continue;
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance >= limit) continue;
    limit = distance;
    best = candidate;
  }
  return best;
}

/** Returns `, did you mean "x"?` in brackets for an error sentence, or nothing when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = closest(word, candidates);
  return near === null ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
}
