// Viewport of the map: position and scale. Pure. A map point (x, y) appears at
// (x · scale + view.x, y · scale + view.y).

export interface View {
  /** Position of the map origin, in CSS pixels. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels per map unit. */
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

const SCALE_MIN = 0.01;
const SCALE_MAX = 4;
/** Zoom factor of one key press or button click. */
export const ZOOM_STEP = 1.3;
/** Limit, so that a few devices are not enlarged to fill the picture. */
export const FIT_MAX = 1.25;
/** Labels below devices extend to both sides. */
export const EDGE = { x: 70, y: 40 };

/** Whole map, centered. */
export function fitted(points: readonly Point[], { width, height }: Size): View {
  if (points.length === 0) return { x: width / 2, y: height / 2, scale: 1 };
  const { left, right, top, bottom } = boundsOf(points);
  const scale = limited(
    Math.min(
      FIT_MAX,
      Math.max(1, width - 2 * EDGE.x) / Math.max(1, right - left),
      Math.max(1, height - 2 * EDGE.y) / Math.max(1, bottom - top),
    ),
  );
  return centred({ x: 0, y: 0, scale }, { x: (left + right) / 2, y: (top + bottom) / 2 }, { width, height });
}

/**
 * Center and scale for the URL, e.g. `1240,-360,0.8`. Independent of the window size.
 * @param stretch vertical stretch of the picture
 */
export function addressOfView({ x, y, scale }: View, { width, height }: Size, stretch = 1): string {
  const middle = [(width / 2 - x) / scale, (height / 2 - y) / scale / stretch].map((each) => Math.round(each));
  return [...middle, Number(scale.toPrecision(3))].join(",");
}

/** @returns null without a valid viewport, or while the window size is unknown */
export function viewAt(place: string | null, size: Size, stretch = 1): View | null {
  const match = /^(-?\d{1,8}),(-?\d{1,8}),(\d{1,3}(?:\.\d{1,6})?)$/.exec(place ?? "");
  if (match === null || size.width === 0) return null;
  const [x, y, scale] = match.slice(1).map(Number) as [number, number, number];
  return centred({ x: 0, y: 0, scale: limited(scale) }, { x, y: y * stretch }, size);
}

/** Same scale, centered on a map point. */
export function centred({ scale }: View, { x, y }: Point, { width, height }: Size): View {
  return { x: width / 2 - x * scale, y: height / 2 - y * scale, scale };
}

export function moved({ x, y, scale }: View, dx: number, dy: number): View {
  return { x: x + dx, y: y + dy, scale };
}

/** Zooms around a point, which keeps its position. */
export function zoomed({ x, y, scale }: View, factor: number, around: Point): View {
  const next = limited(scale * factor);
  const grown = next / scale;
  return { x: around.x - (around.x - x) * grown, y: around.y - (around.y - y) * grown, scale: next };
}

export function boundsOf(points: readonly Point[]) {
  let [left, right, top, bottom] = [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { left, right, top, bottom };
}

function limited(scale: number): number {
  return Math.min(SCALE_MAX, Math.max(SCALE_MIN, scale));
}
