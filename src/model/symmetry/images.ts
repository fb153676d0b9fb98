/**
 * Returns where a map takes items: the k-th with a name to the k-th with that name's image; null where the images are not as
 * many of each name. `names`, `imageNames` [items]. O(items).
 */
export function imagesByName<Name extends string | number>(
  names: ArrayLike<Name>,
  imageNames: ArrayLike<Name>,
): Int32Array | null {
  const known = new Map<Name, number[]>();
  for (let i = 0; i < names.length; i++) {
    const list = known.get(names[i]);
    if (list === undefined) known.set(names[i], [i]);
    else list.push(i);
  }
  const taken = new Map<Name, number>();
  const images = new Int32Array(names.length);
  for (let i = 0; i < images.length; i++) {
    const name = imageNames[i];
    const k = taken.get(name) ?? 0;
    const image = known.get(name)?.[k];
    if (image === undefined) return null;
    taken.set(name, k + 1);
    images[i] = image;
  }
  return images;
}
