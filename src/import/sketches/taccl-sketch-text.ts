/**
 * Returns a JSON text with `//` comments, outside strings, turned into spaces, so that lines and columns stay. TACCL's listing 1
 * has them. O(text).
 */
export function withoutComments(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"' || c === "\n") inString = c === '"' && !inString;
    else if (c === "\\" && inString) at++;
    else if (c === "/" && !inString && text[at + 1] === "/") {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      parts.push(text.slice(kept, at), " ".repeat(stop - at));
      kept = stop;
      at = stop - 1;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept);
}
