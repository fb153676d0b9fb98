/** Markers that differ in shape. */

type Pen = Pick<CanvasRenderingContext2D, "moveTo" | "lineTo" | "arc" | "closePath">;

const POLYGONS: readonly (readonly (readonly [number, number])[])[] = [
  [],
  [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  [
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ],
  [
    [0, -1.2],
    [1.15, 0.85],
    [-1.15, 0.85],
  ],
  [
    [0, 1.2],
    [1.15, -0.85],
    [-1.15, -0.85],
  ],
  [
    [0, -1.25],
    [1.2, -0.35],
    [0.75, 1],
    [-0.75, 1],
    [-1.2, -0.35],
  ],
];

/** Adds a marker to a path, about `radius` large: 0 a circle, then square, diamond, triangles, pentagon, and again. */
export function addMarker(pen: Pen, shape: number, x: number, y: number, radius: number): void {
  const corners = POLYGONS[shape % POLYGONS.length] as readonly (readonly [number, number])[];
  if (corners.length === 0) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  for (const [i, [dx, dy]] of corners.entries()) {
    if (i === 0) pen.moveTo(x + dx * radius, y + dy * radius);
    else pen.lineTo(x + dx * radius, y + dy * radius);
  }
  pen.closePath();
}

/** Returns a marker as the path of an SVG. */
export function markerPath(shape: number, x: number, y: number, radius: number): string {
  const corners = POLYGONS[shape % POLYGONS.length] as readonly (readonly [number, number])[];
  if (corners.length === 0)
    return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
  return `M${corners.map(([dx, dy]) => `${x + dx * radius} ${y + dy * radius}`).join("L")}Z`;
}
