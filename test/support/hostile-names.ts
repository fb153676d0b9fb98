import { expect } from "vitest";

/** Names that would forge lines, hide, turn letters around, run in a page or be computed in a table; each another way. */
export const HOSTILE: readonly string[] = [
  "\u001b[2J\u001b]0;owned\u0007esc",
  "cr\rlf\nbanyan: forged",
  "\u202egnp.bidi\u202c",
  "\u2066iso\u2069",
  "zero\u200b\u200d\u2060width",
  "\ufeffbom",
  "c1\u009b31m\u0085next",
  "del\u007f\u0008\u0008\u0008",
  "\u2028ls\u2029ps",
  "\u001b]8;;http://evil.example\u001b\\link",
  '=HYPERLINK("http://evil.example")',
  "@SUM(A1)",
  "+1;=1+1",
  "-2+3\t=1",
  "</script><script>alert(1)</script>",
  "\"'><img src=x onerror=alert(1)>",
  "tab\tbed",
  "\u061calm\u200e\u200f",
  "tag\u{e0041}\u3164filler",
  "half\ud800",
  "nul\0\u0001",
  "&#x202e;&lt;entity",
  "]]>--><!--x",
  "javascript:alert(1)//\\u202e",
];

/** Everything that must not come out, but for line breaks. */
const FORBIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;
/** Markup of the names above; a text that holds it as it is can be run. */
const MARKUP = /<script>alert|<img src=x|<!--x/;

/** Fails where a text holds a character that forges or hides, or a line that only a name could have brought. */
export function expectVisible(text: string, where: string): void {
  const at = FORBIDDEN.exec(text);
  const found =
    at === null
      ? null
      : `U+${at[0].codePointAt(0)?.toString(16)} in ${JSON.stringify(text.slice(Math.max(0, at.index - 40), at.index + 40))}`;
  expect([where, found]).toEqual([where, null]);
  expect([where, text.split("\n").filter((line) => line.startsWith("banyan: forged"))]).toEqual([where, []]);
}

/** Fails where a text that a browser reads as markup holds markup of a name. */
export const expectInert = (text: string, where: string): void =>
  expect([where, MARKUP.exec(text)?.[0] ?? null]).toEqual([where, null]);

/** Returns a network file, a ring of `npus` NPUs, whose name, nodes, groups and sources are the hostile names from the first on. */
export function hostileNetwork(first: number, npus = 8): string {
  const name = (i: number): string => HOSTILE[(first + i) % HOSTILE.length] as string;
  const ids = Array.from({ length: npus }, (_, i) => name(i));
  return JSON.stringify({
    format: "banyan-topology",
    version: 1,
    name: ids.join(" "),
    sources: HOSTILE,
    nodes: ids.map((id, i) => ({ id, kind: "npu", group: name(Math.floor(i / (npus / 2))) })),
    links: ids.map((from, i) => ({
      from,
      to: ids[(i + 1) % npus],
      bandwidthGBps: 50,
      latencyUs: 0.5,
      bidirectional: true,
    })),
  });
}
