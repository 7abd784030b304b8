// Map viewport: a map point (x, y) is at (x · scale + view.x, y · scale + view.y). Pure.

/** Position of the map origin in CSS pixels, and CSS pixels per map unit. */
export type View = Point & { readonly scale: number };

export type Size = Readonly<Record<"width" | "height", number>>;
export type Point = Readonly<Record<"x" | "y", number>>;

const SCALE_MIN = 0.01;
const SCALE_MAX = 4;
/** Zoom factor of one key press or button click. */
export const ZOOM_STEP = 1.3;
/** Limits the scale, so that a few devices are not enlarged to fill the picture. */
export const FIT_MAX = 1.25;
/** Margin of the whole map, since labels extend beyond the devices. */
export const EDGE = { x: 70, y: 40 };

/** View of the whole map, centered. */
export function fitted(points: readonly Point[], { width, height }: Size): View {
  if (points.length === 0) return { x: width / 2, y: height / 2, scale: 1 };
  const { left, right, top, bottom } = boundsOf(points);
  const scaleX = Math.max(1, width - 2 * EDGE.x) / Math.max(1, right - left);
  const scaleY = Math.max(1, height - 2 * EDGE.y) / Math.max(1, bottom - top);
  const scale = limited(Math.min(FIT_MAX, scaleX, scaleY));
  return centered({ x: 0, y: 0, scale }, { x: (left + right) / 2, y: (top + bottom) / 2 }, { width, height });
}

/**
 * Center and scale for the URL, e.g. `1240,-360,0.8`. Independent of the window size.
 * @param stretch vertical stretch of the picture
 */
export function viewParameter({ x, y, scale }: View, { width, height }: Size, stretch = 1): string {
  const [centerX, centerY] = [(width / 2 - x) / scale, (height / 2 - y) / scale / stretch];
  return [Math.round(centerX), Math.round(centerY), Number(scale.toPrecision(3))].join(",");
}

/** @returns null without a valid viewport, or while the window size is unknown */
export function viewAt(viewport: string | null, size: Size, stretch = 1): View | null {
  const match = /^(-?\d{1,8}),(-?\d{1,8}),(\d{1,3}(?:\.\d{1,6})?)$/.exec(viewport ?? "");
  if (match === null || size.width === 0) return null;
  const [x, y, scale] = match.slice(1).map(Number) as [number, number, number];
  return centered({ x: 0, y: 0, scale: limited(scale) }, { x, y: y * stretch }, size);
}

/** Same scale, centered on a map point. */
export function centered({ scale }: View, { x, y }: Point, { width, height }: Size): View {
  return { x: width / 2 - x * scale, y: height / 2 - y * scale, scale };
}

export function moved({ x, y, scale }: View, dx: number, dy: number): View {
  return { x: x + dx, y: y + dy, scale };
}

/** Zooms around a point, which keeps its position. */
export function zoomed({ x, y, scale }: View, factor: number, point: Point): View {
  const next = limited(scale * factor);
  const zoomRatio = next / scale;
  return { x: point.x - (point.x - x) * zoomRatio, y: point.y - (point.y - y) * zoomRatio, scale: next };
}

export function boundsOf(points: readonly Point[]) {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [top, bottom] = [left, right];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return { left, right, top, bottom };
}

function limited(scale: number): number {
  return Math.min(SCALE_MAX, Math.max(SCALE_MIN, scale));
}
