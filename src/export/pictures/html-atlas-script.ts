/**
 * What the page of an atlas does when it is used: plain JavaScript that stands in the page as it is here. Without it the page still
 * shows the pictures of the first collective and every table.
 */
export const ATLAS_SCRIPT = String.raw`
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const { names, marks, kinds } = data;
  const placeOf = new Map(names.map((name, i) => [name, i]));
  const pictures = all("svg.harm");
  const parts = pictures.map((svg) => all("[data-m]", svg));
  const panel = one("#panel");
  const field = one("#find");
  const ORDER = "qo0123456x";
  let kind = one("input[name=kind]:checked").value;
  let pinned = null;
  let chosen = null;

  const worstOf = (mark) => {
    const { of, steps } = kinds[kind];
    let worst = -1;
    for (const name of marks[mark][1]) {
      const at = of[name];
      if (at >= 0 && (worst < 0 || ORDER.indexOf(steps[at]) > ORDER.indexOf(steps[worst]))) worst = at;
    }
    return worst;
  };
  const stepOf = (mark) => {
    const at = worstOf(mark);
    return at < 0 ? "q" : kinds[kind].steps[at];
  };

  const paint = () => {
    for (const elements of parts)
      for (const element of elements) {
        const step = stepOf(Number(element.dataset.m));
        element.setAttribute("class", element.getAttribute("class").replace(/\bh[0-9xoq]\b/, "h" + step));
      }
    for (const part of all("[data-kind]")) part.hidden = part.dataset.kind !== kind;
  };

  const add = (parent, tag, text) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const figures = (at) => {
    const card = kinds[kind].cards[at];
    const list = add(panel, "dl");
    for (const [key, value] of card.rows) {
      add(list, "dt", key);
      add(list, "dd", value);
    }
    if (card.href !== null) {
      add(list, "dt", "schedule");
      const link = add(add(list, "dd"), "a", "of " + card.name);
      link.href = card.href;
      link.download = kind + " without " + card.name.replace(/[^\w.+-]+/g, "_") + ".json";
    }
  };
  const say = (title, at, note) => {
    panel.parentElement.classList.remove("rest");
    panel.replaceChildren();
    add(panel, "h2", title);
    if (note) add(panel, "p", note).className = "note";
    if (at >= 0) figures(at);
  };
  const sayMark = (mark) => {
    const [label, members] = marks[mark];
    const { of, cards } = kinds[kind];
    const counts = new Map();
    for (const name of members) if (of[name] >= 0) counts.set(of[name], (counts.get(of[name]) || []).concat(name));
    const worst = worstOf(mark);
    if (worst < 0) return say(label, -1, "No failure of it is in this atlas for this collective.");
    const own = counts.get(worst);
    const several = [...counts.values()].reduce((sum, list) => sum + list.length, 0);
    const like = names[own[0]] === cards[worst].name ? "" : "as " + cards[worst].name;
    const note = several > 1 ? several + " failures inside; the worst: " + names[own[0]] + (own.length > 1 ? " and " + (own.length - 1) + " alike" : "") : like;
    say(label, worst, note);
  };
  const rest = () => {
    say("Point at a part of the network", -1, "Or tap it, find it by its name, or choose a row of the table. Arrow keys walk through a picture that has the focus.");
    panel.parentElement.classList.add("rest");
  };

  const show = (mark) => {
    for (const element of all(".harm .now")) element.classList.remove("now");
    if (mark === null) return;
    for (const elements of parts) for (const element of elements) if (Number(element.dataset.m) === mark) element.classList.add("now");
    sayMark(mark);
  };
  const light = (at) => {
    chosen = at;
    const { of } = kinds[kind];
    pictures.forEach((svg, i) => {
      let any = false;
      for (const element of parts[i]) {
        const is = at !== null && marks[Number(element.dataset.m)][1].some((name) => of[name] === at);
        element.classList.toggle("lit", is);
        any = any || is;
      }
      svg.classList.toggle("lit", any);
    });
    for (const row of all("tr[data-at]")) row.classList.toggle("on", at !== null && Number(row.dataset.at) === at && row.closest("[data-kind]").dataset.kind === kind);
    for (const button of all("button[data-at]")) button.setAttribute("aria-pressed", String(at !== null && Number(button.dataset.at) === at));
  };

  const outline = new Map();
  const pointsOf = (element) => {
    const known = outline.get(element);
    if (known) return known;
    const numbers = (element.getAttribute("d").match(/-?[\d.]+/g) || []).map(Number);
    const points = [];
    if (numbers.length === 4) points.push([numbers[0], numbers[1]], [numbers[2], numbers[3]]);
    else
      for (let i = 0; i <= 8; i++) {
        const [t, u] = [i / 8, 1 - i / 8];
        points.push([0, 1].map((k) => u * u * numbers[k] + 2 * u * t * numbers[2 + k] + t * t * numbers[4 + k]));
      }
    outline.set(element, points);
    return points;
  };
  const apart = (x, y, [ax, ay], [bx, by]) => {
    const [dx, dy] = [bx - ax, by - ay];
    const share = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(x - ax - share * dx, y - ay - share * dy);
  };
  /* The part under a pointer, or the line that is nearest within a finger's width. */
  const markAt = (svg, event, reach) => {
    const under = event.target.closest("[data-m]");
    if (under && !under.classList.contains("b")) return Number(under.dataset.m);
    const matrix = svg.getScreenCTM();
    if (!matrix) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let [best, least] = [under, reach / matrix.a];
    for (const element of parts[pictures.indexOf(svg)]) {
      if (element.tagName !== "path") continue;
      const points = pointsOf(element);
      for (let i = 1; i < points.length; i++) {
        const distance = apart(point.x, point.y, points[i - 1], points[i]);
        if (distance < least) [best, least] = [element, distance];
      }
    }
    return best ? Number(best.dataset.m) : null;
  };

  pictures.forEach((svg, at) => {
    let frame = 0;
    svg.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch" || pinned !== null) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const mark = markAt(svg, event, 6);
        if (mark !== null) show(mark);
      });
    });
    svg.addEventListener("click", (event) => {
      const mark = markAt(svg, event, 14);
      pinned = mark === pinned ? null : mark;
      show(pinned);
      if (pinned === null) rest();
      else if (matchMedia("(max-width:999px)").matches) panel.scrollIntoView({ block: "nearest" });
    });
    const scroll = svg.closest(".scroll");
    scroll.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") {
        pinned = null;
        show(null);
        light(null);
        return rest();
      }
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const order = [...new Set(parts[at].map((element) => Number(element.dataset.m)))].sort((a, b) => a - b);
      const now = order.indexOf(pinned);
      pinned = order[(now < 0 && step < 0 ? 0 : now + step + order.length) % order.length];
      show(pinned);
    });
    let zoom = 1;
    for (const button of all("button[data-zoom]", svg.closest("figure")))
      button.addEventListener("click", () => {
        zoom = button.dataset.zoom === "fit" ? 1 : Math.max(0.5, Math.min(8, zoom * Number(button.dataset.zoom)));
        svg.style.setProperty("--zoom", zoom);
      });
  });

  const ways = (name) => {
    const [, ends, ordinal] = /^(.*?)(#\d+)?$/.exec(name);
    const found = [name];
    for (let cut = 1; cut < ends.length - 1; cut++)
      if (ends[cut] === "-" || ends[cut] === ">") {
        const [a, b] = [ends.slice(0, cut), ends.slice(cut + 1)];
        found.push(a + "-" + b + (ordinal || ""), b + "-" + a + (ordinal || ""));
      }
    return found;
  };
  const find = (text) => {
    const { of, sets, further } = kinds[kind];
    const asked = text.split(/[,\s]+/).filter(Boolean);
    if (asked.length === 0) return rest();
    if (asked.length > 1) {
      let all = [[]];
      for (const name of asked.slice(0, 4)) all = all.flatMap((before) => ways(name).map((way) => [...before, way]));
      for (const list of all) {
        for (const first of list) {
          const later = list.filter((name) => name !== first).sort().join("+");
          const at = (further[first] || {})[later];
          if (at !== undefined) return say(later + " after " + first, at, "");
        }
        const at = sets[[...list].sort().join("+")];
        if (at !== undefined) return say(list.join(" with "), at, "");
      }
      return say(asked.join(" with "), -1, "This atlas has no such failure.");
    }
    const known = ways(asked[0]).find((way) => placeOf.has(way) && of[placeOf.get(way)] >= 0);
    if (known === undefined) return say(asked[0], -1, "This atlas has no such failure. Names are those of banyan topology, such as " + names[0] + ".");
    const name = placeOf.get(known);
    const own = marks.findIndex(([, members]) => members[0] === name || (members.length <= 3 && members.includes(name)));
    const mark = own < 0 ? marks.findIndex(([, members]) => members.includes(name)) : own;
    pinned = mark < 0 ? null : mark;
    if (pinned !== null) show(pinned);
    say(known, of[name], "");
  };
  field.addEventListener("input", () => find(field.value));
  one("form").addEventListener("submit", (event) => event.preventDefault());
  for (const input of all("input[name=kind]"))
    input.addEventListener("change", () => {
      kind = input.value;
      paint();
      light(null);
      if (field.value.trim() !== "") find(field.value);
      else if (pinned !== null) show(pinned);
      else rest();
    });
  for (const button of all("button[data-at]"))
    button.addEventListener("click", () => {
      const at = Number(button.dataset.at);
      pinned = null;
      show(null);
      if (chosen === at) {
        light(null);
        return rest();
      }
      light(at);
      const card = kinds[kind].cards[at];
      say(card.name, at, card.alike);
    });
  one(".bar").hidden = false;
  for (const tools of all(".tools div")) tools.hidden = false;
  paint();
  rest();
})();
`;
