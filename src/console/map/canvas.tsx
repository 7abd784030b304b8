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
  readonly carriedId?: string | null;
  readonly control: MutableRef<Control | null>;
  /** Press on a device, or on none (null), with the position on the map. */
  readonly onPress: (id: string | null, where: Point) => void;
}

const pictureLabel = (devices: number, links: number) =>
  `Picture of the map: ${counted(devices, "device", "devices")}, ${counted(links, "link", "links")}. The table next to it has the same content. Arrow keys move it, plus and minus zoom, 0 shows all.`;

export function MapCanvas({ diagram, marks, subject, carriedId = null, control, onPress }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const picture = useMemo(() => new Picture(), []);
  picture.pressed = onPress;
  picture.carriedId = carriedId;
  picture.rested = (place) => go(hrefHere({ view: place }), "replace");
  const place = parameter("view");
  // A layout effect, so that the response is drawn in the next frame, not the one after.
  useLayoutEffect(() => {
    if (canvas.current === null || probe.current === null) return;
    control.current = picture.control;
    return picture.start(canvas.current, probe.current);
  }, [picture]);
  useLayoutEffect(() => picture.show({ diagram, marks, subject, place }), [diagram, marks, subject, place]);
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
      <span ref={probe} class="unseen" aria-hidden="true" />
    </>
  );
}
