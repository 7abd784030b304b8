// Mouse and touch gestures on the map: a drag pans it or moves the device under it, the wheel and two fingers zoom, a
// press without a drag selects.

interface Gestures {
  readonly move: (dx: number, dy: number) => void;
  /** By a factor, around a point of the element. */
  readonly zoom: (factor: number, x: number, y: number) => void;
  readonly press: (x: number, y: number) => void;
  readonly hover: (x: number, y: number) => void;
  /** Whether a drag from this point moves an object instead of panning. */
  readonly carries: (x: number, y: number) => boolean;
  readonly carry: (x: number, y: number) => void;
  /** End of a drag that moves an object; null if cancelled by a second finger or the system. */
  readonly drop: (where: { readonly x: number; readonly y: number } | null) => void;
}

/** Shorter movements count as a press with an unsteady hand. */
const DRAG_FROM = 4;
/** One wheel notch is 100 pixels or 3 lines. */
const LINE_PIXELS = 33;
const WHEEL_PACE = 0.0016;

interface Finger {
  x: number;
  y: number;
}

/** @returns a function that removes the listeners */
export function gestures(
  element: HTMLElement,
  { move, zoom, press, hover, carries, carry, drop }: Gestures,
): () => void {
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const fingers = new Map<number, Finger>();
  let dragged = 0;
  let isCarrying = false;
  const letGo = (where: { readonly x: number; readonly y: number } | null) => {
    if (isCarrying) drop(where);
    isCarrying = false;
  };
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      if (fingers.size === 0) dragged = 0;
      if (fingers.size === 0) isCarrying = carries(event.offsetX, event.offsetY);
      else letGo(null);
      fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      element.setPointerCapture(event.pointerId);
    },
    options,
  );
  element.addEventListener(
    "pointermove",
    (event) => {
      const finger = fingers.get(event.pointerId);
      const { offsetX: x, offsetY: y } = event;
      if (finger === undefined) {
        hover(x, y);
        return;
      }
      const before = spreadOf(fingers);
      const [dx, dy] = [x - finger.x, y - finger.y];
      finger.x = x;
      finger.y = y;
      dragged += Math.hypot(dx, dy);
      if (dragged < DRAG_FROM) return;
      if (isCarrying) return carry(x, y);
      move(dx / fingers.size, dy / fingers.size);
      const after = spreadOf(fingers);
      if (before !== null && after !== null && before.apart > 0) zoom(after.apart / before.apart, after.x, after.y);
    },
    options,
  );
  element.addEventListener(
    "pointerup",
    (event) => {
      const wasOnly = fingers.size === 1;
      const isPress = fingers.delete(event.pointerId) && wasOnly && dragged < DRAG_FROM;
      letGo(isPress ? null : { x: event.offsetX, y: event.offsetY });
      if (isPress) press(event.offsetX, event.offsetY);
    },
    options,
  );
  element.addEventListener(
    "pointercancel",
    (event) => {
      fingers.delete(event.pointerId);
      letGo(null);
    },
    options,
  );
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * LINE_PIXELS;
      zoom(Math.exp(-pixels * WHEEL_PACE), event.offsetX, event.offsetY);
    },
    { ...options, passive: false },
  );
  return () => stop.abort();
}

/** Distance between two fingers, and the point midway. */
function spreadOf(fingers: ReadonlyMap<number, Finger>) {
  const [one, other] = fingers.values();
  if (one === undefined || other === undefined || fingers.size !== 2) return null;
  return { apart: Math.hypot(one.x - other.x, one.y - other.y), x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}
