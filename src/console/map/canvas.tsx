// The picture of the map: moved and zoomed by mouse, fingers and keys. What one does not see in it, the table says.

import { type MutableRef, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { mapText } from "../text/map.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import type { Diagram } from "./diagram.ts";
import { type Control, type Marks, Picture } from "./picture.ts";
import type { Point } from "./viewport.ts";

interface MapCanvasProps {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** What the map is of: another one is shown whole, the same one stays where it is. */
  readonly subject: string;
  /** The device that a drag carries; null where it moves the picture. */
  readonly carriedId?: string | null;
  readonly control: MutableRef<Control | null>;
  /** A press: on a device or on none, and where on the map. */
  readonly onPress: (id: string | null, where: Point) => void;
}

export function MapCanvas({ diagram, marks, subject, carriedId = null, control, onPress }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const picture = useMemo(() => new Picture(), []);
  picture.pressed = onPress;
  picture.carriedId = carriedId;
  picture.rested = (place) => go(hrefHere({ view: place }), "replace");
  const place = parameter("view");
  // What was answered is drawn in the next frame, not in the one after it.
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move and zoom it.
        tabIndex={0}
        aria-label={mapText.picture(diagram.nodes.length, diagram.links.length)}
      >
        <canvas ref={canvas} class="map-canvas" />
      </div>
      <span ref={probe} class="unseen" aria-hidden="true" />
    </>
  );
}
