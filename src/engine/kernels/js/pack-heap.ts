import { reserve } from "./pack-columns.ts";

/** The links that labels offer to go on by: the twin of native/kernels/pack_heap.h, a binary heap in the total order (price, label, link). */
export class OfferHeap {
  /** The offer that was taken last. */
  price = 0;
  label = 0;
  link = 0;
  #count = 0;
  #prices = new Float64Array(64);
  #labels = new Int32Array(64);
  #links = new Int32Array(64);

  isEmpty(): boolean {
    return this.#count === 0;
  }

  clear(): void {
    this.#count = 0;
  }

  push(price: number, label: number, link: number): void {
    if (this.#count === this.#prices.length) this.#grow();
    const prices = this.#prices;
    const labels = this.#labels;
    const links = this.#links;
    let i = this.#count++;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!before(price, label, link, prices[above], labels[above], links[above])) break;
      prices[i] = prices[above];
      labels[i] = labels[above];
      links[i] = links[above];
      i = above;
    }
    prices[i] = price;
    labels[i] = label;
    links[i] = link;
  }

  /** Takes the first offer into price, label and link. */
  pop(): void {
    const prices = this.#prices;
    const labels = this.#labels;
    const links = this.#links;
    this.price = prices[0];
    this.label = labels[0];
    this.link = links[0];
    const count = --this.#count;
    const price = prices[count];
    const label = labels[count];
    const link = links[count];
    let i = 0;
    for (;;) {
      let below = 2 * i + 1;
      if (below >= count) break;
      const next = below + 1;
      if (next < count && before(prices[next], labels[next], links[next], prices[below], labels[below], links[below])) {
        below = next;
      }
      if (!before(prices[below], labels[below], links[below], price, label, link)) break;
      prices[i] = prices[below];
      labels[i] = labels[below];
      links[i] = links[below];
      i = below;
    }
    prices[i] = price;
    labels[i] = label;
    links[i] = link;
  }

  #grow(): void {
    const size = this.#count + 1;
    this.#prices = reserve(this.#prices, size);
    this.#labels = reserve(this.#labels, size);
    this.#links = reserve(this.#links, size);
  }
}

function before(price: number, label: number, link: number, price2: number, label2: number, link2: number): boolean {
  if (price !== price2) return price < price2;
  return label !== label2 ? label < label2 : link < link2;
}
