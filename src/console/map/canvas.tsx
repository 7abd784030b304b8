// Canvas of the map, moved and zoomed by mouse, touch and keyboard. The tables carry the same content as text.

import { type MutableRef, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { counted } from "../text/digits.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import type { Diagram } from "./diagram.ts";
import { type Control, type Marks, Picture } from "./picture.ts";
import type { Point } from "./viewport.ts";

interface MapCanvasProps {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** Identity of the map: a new one is fitted to the canvas, the same one keeps its position. */
  readonly subject: string;
  /** Device moved by a drag; null if a drag pans the map. */
  readonly draggedId?: string | null;
  readonly control: MutableRef<Control | null>;
  /** @param id pressed device; null for none @param point position on the map */
  readonly onPress: (id: string | null, point: Point) => void;
}

const pictureLabel = (devices: number, links: number) =>
  `Picture of the map: ${counted(devices, "device", "devices")}, ${counted(links, "link", "links")}. The table next to it has the same content. Arrow keys move the map, plus and minus zoom, 0 shows all.`;

export function MapCanvas({ diagram, marks, subject, draggedId = null, control, onPress }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const picture = useMemo(() => new Picture(), []);
  picture.onPress = onPress;
  picture.draggedId = draggedId;
  picture.onViewport = (viewport) => go(hrefHere({ view: viewport }), "replace");
  const viewport = parameter("view");
  // A layout effect, so that the response is drawn in the next frame, not the one after.
  useLayoutEffect(() => {
    if (canvas.current === null || probe.current === null) return;
    control.current = picture.control;
    return picture.start(canvas.current, probe.current);
  }, [picture]);
  useLayoutEffect(() => picture.show({ diagram, marks, subject, viewport }), [diagram, marks, subject, viewport]);
  return (
    <>
      <div
        class="map-frame"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move and zoom the map.
        tabIndex={0}
        aria-label={pictureLabel(diagram.nodes.length, diagram.links.length)}
      >
        <canvas ref={canvas} class="map-canvas" />
      </div>
      <span ref={probe} class="visually-hidden" aria-hidden="true" />
    </>
  );
}
