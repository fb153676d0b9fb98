/** Returns ascending numbers as text, "0-3, 7"; those beyond `most` ranges are counted: "0, 2, 4 and 17 more". O(n). */
export function rangesText(numbers: ArrayLike<number>, most = 12): string {
  const ranges: string[] = [];
  let told = 0;
  for (let i = 0; i < numbers.length && ranges.length < most; ) {
    let end = i;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) end++;
    ranges.push(
      end === i ? `${numbers[i]}` : end === i + 1 ? `${numbers[i]}, ${numbers[end]}` : `${numbers[i]}-${numbers[end]}`,
    );
    told += end - i + 1;
    i = end + 1;
  }
  const left = numbers.length - told;
  return ranges.join(", ") + (left > 0 ? ` and ${left.toLocaleString("en")} more` : "");
}
