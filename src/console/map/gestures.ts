// Mouse and touch gestures on the map: drag, zoom by wheel or two fingers, and press to select.

import type { Point } from "./viewport.ts";

interface Gestures {
  readonly move: (dx: number, dy: number) => void;
  /** Zooms by a factor around a point of the element. */
  readonly zoom: (factor: number, x: number, y: number) => void;
  readonly press: (x: number, y: number) => void;
  readonly hover: (x: number, y: number) => void;
  /** Whether a drag from this point moves an object instead of panning. */
  readonly canDrag: (x: number, y: number) => boolean;
  readonly drag: (x: number, y: number) => void;
  /** Ends a drag that moves an object; null if canceled by a second finger or the system. */
  readonly drop: (point: Point | null) => void;
}

/** Shorter movements count as a press with an unsteady hand. */
const DRAG_MIN = 4;
/** One wheel notch is 100 pixels or 3 lines. */
const LINE_PIXELS = 33;
const WHEEL_SPEED = 0.0016;

/** @returns a function that removes the listeners */
export function listenForGestures(
  element: HTMLElement,
  { move, zoom, press, hover, canDrag, drag, drop }: Gestures,
): () => void {
  const stop = new AbortController();
  const on = <Type extends "wheel" | `pointer${"down" | "move" | "up" | "cancel"}`>(
    type: Type,
    listener: (event: HTMLElementEventMap[Type]) => void,
  ) => element.addEventListener(type, listener, { signal: stop.signal, passive: false });
  const fingers = new Map<number, Point>();
  let dragged = 0;
  let isDragging = false;
  const endDrag = (point: Point | null) => {
    if (isDragging) drop(point);
    isDragging = false;
  };
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (fingers.size === 0) dragged = 0;
    if (fingers.size === 0) isDragging = canDrag(event.offsetX, event.offsetY);
    else endDrag(null);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    element.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    const { offsetX: x, offsetY: y } = event;
    if (finger === undefined) return hover(x, y);
    const before = spreadOf(fingers);
    const [dx, dy] = [x - finger.x, y - finger.y];
    fingers.set(event.pointerId, { x, y });
    dragged += Math.hypot(dx, dy);
    if (dragged < DRAG_MIN) return;
    if (isDragging) return drag(x, y);
    move(dx / fingers.size, dy / fingers.size);
    const after = spreadOf(fingers);
    if (before !== null && after !== null && before.distance > 0)
      zoom(after.distance / before.distance, after.x, after.y);
  });
  on("pointerup", (event) => {
    const wasOnly = fingers.size === 1;
    const isPress = fingers.delete(event.pointerId) && wasOnly && dragged < DRAG_MIN;
    endDrag(isPress ? null : { x: event.offsetX, y: event.offsetY });
    if (isPress) press(event.offsetX, event.offsetY);
  });
  on("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    endDrag(null);
  });
  on("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * LINE_PIXELS;
    zoom(Math.exp(-pixels * WHEEL_SPEED), event.offsetX, event.offsetY);
  });
  return () => stop.abort();
}

/** Distance between two fingers, and the point midway. */
function spreadOf(fingers: ReadonlyMap<number, Point>) {
  const [first, second] = fingers.values();
  if (first === undefined || second === undefined || fingers.size !== 2) return null;
  const distance = Math.hypot(first.x - second.x, first.y - second.y);
  return { distance, x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 };
}
