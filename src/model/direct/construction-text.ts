import type { Construction } from "./construction.ts";
import { familyNamed, familyText } from "./families.ts";

/**
 * Returns a construction as plain ASCII that `parseConstruction` reads back as the same: `L3(C(16,{3,4}))`, `K(3)*2`,
 * `(UniRing(1,4) x UniRing(1,8))^2`.
 */
export function constructionText(construction: Construction): string {
  switch (construction.kind) {
    case "family": {
      const { family: name, parameters } = construction;
      return familyText(familyNamed(name) ?? { name }, parameters);
    }
    case "line":
      return `L${construction.times === 1 ? "" : construction.times}(${constructionText(construction.base)})`;
    case "degree":
      return `${operand(construction.base)}*${construction.factor}`;
    case "power":
      return `${operand(construction.base)}^${construction.exponent}`;
    case "product":
      return construction.factors
        .map((factor) => (factor.kind === "product" ? `(${constructionText(factor)})` : constructionText(factor)))
        .join(" x ");
    case "transpose":
      return `T(${constructionText(construction.base)})`;
    case "bidirectional":
      return `Bi(${constructionText(construction.base)})`;
  }
}

/** Returns a construction in brackets where an operator behind it would bind to its end. */
function operand(base: Construction): string {
  const text = constructionText(base);
  return base.kind === "degree" || base.kind === "power" || base.kind === "product" ? `(${text})` : text;
}
