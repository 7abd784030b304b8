// The picture of the map: moved and zoomed by mouse, fingers and keys. What one does not see in it, the table says.

import { type MutableRef, useEffect, useMemo, useRef } from "preact/hooks";
import { mapText } from "../text/map.ts";
import type { Diagram } from "./diagram.ts";
import { gestures } from "./gestures.ts";
import { coloursAt, paint } from "./paint.ts";
import { dotAt, type Scene, type SceneOptions, sceneOf } from "./scene.ts";
import { type Colours, fontOf } from "./style.ts";
import { centred, fitted, moved, type Point, type Size, type View, zoomed } from "./viewport.ts";

/** What is marked in the picture. */
export type Marks = Pick<SceneOptions, "chosenId" | "way" | "found">;

/** What stands beside the picture can move it. */
export interface Control {
  readonly zoom: (factor: number) => void;
  readonly move: (dx: number, dy: number) => void;
  readonly showAll: () => void;
  readonly centre: (id: string) => void;
  /** All of it at a size, as for a file. */
  readonly sceneAt: (scale: number) => { readonly scene: Scene; readonly colours: Colours };
  readonly hasFocus: () => boolean;
}

interface MapCanvasProps {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** What the map is of: another one is shown whole, the same one stays where it is. */
  readonly subject: string;
  readonly control: MutableRef<Control | null>;
  /** A press: on a device or on none, and where on the map. */
  readonly onPress: (id: string | null, where: Point) => void;
}

/** As far from a device as a click still means it, in pixels. */
const REACH = 8;

export function MapCanvas({ diagram, marks, subject, control, onPress }: MapCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const picture = useMemo(() => new Picture(), []);
  picture.pressed = onPress;
  useEffect(() => {
    if (canvas.current === null || probe.current === null) return;
    control.current = picture.control;
    return picture.start(canvas.current, probe.current);
  }, [picture]);
  useEffect(() => picture.show(diagram, marks, subject), [diagram, marks, subject]);
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

/** What a canvas shows, drawn anew at most once a frame. */
class Picture {
  pressed: MapCanvasProps["onPress"] = () => {};
  private canvas: HTMLCanvasElement | null = null;
  private probe: HTMLSpanElement | null = null;
  private diagram: Diagram | null = null;
  private marks: Marks = { chosenId: null, way: new Set(), found: null };
  private subject: string | null = null;
  private size: Size = { width: 0, height: 0 };
  private view: View | null = null;
  private colours: Colours | null = null;
  private scene: { readonly scale: number; readonly scene: Scene } | null = null;
  private frame: number | null = null;
  private readonly widths = new Map<string, number>();

  readonly control: Control = {
    zoom: (factor) => this.zoomAt(factor, this.size.width / 2, this.size.height / 2),
    move: (dx, dy) => this.see(this.view === null ? null : moved(this.view, dx, dy)),
    showAll: () => this.see(null),
    centre: (id) => this.centre(id),
    sceneAt: (scale) => ({ scene: this.sceneAt(scale), colours: this.coloursNow() }),
    hasFocus: () => this.canvas !== null && document.activeElement === this.canvas.parentElement,
  };

  /** @returns what ends it */
  start(canvas: HTMLCanvasElement, probe: HTMLSpanElement): () => void {
    this.canvas = canvas;
    this.probe = probe;
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(canvas);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => {
      this.colours = null;
      this.drawSoon();
    };
    dark.addEventListener("change", recolour);
    const stopGestures = gestures(canvas, {
      move: (dx, dy) => this.control.move(dx, dy),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      press: (x, y) => this.press(x, y),
      hover: (x, y) => {
        canvas.style.cursor = this.idAt(x, y) === null ? "grab" : "pointer";
      },
    });
    this.resize();
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", recolour);
      stopGestures();
      if (this.frame !== null) cancelAnimationFrame(this.frame);
    };
  }

  show(diagram: Diagram, marks: Marks, subject: string): void {
    if (subject !== this.subject) this.view = null;
    this.diagram = diagram;
    this.marks = marks;
    this.subject = subject;
    this.scene = null;
    this.drawSoon();
  }

  private resize(): void {
    const { canvas } = this;
    if (canvas === null) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const { size, view } = this;
    // What was in the middle stays there.
    if (view !== null && size.width > 0) this.view = moved(view, (width - size.width) / 2, (height - size.height) / 2);
    this.size = { width, height };
    const ratio = window.devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    // A canvas that is given its size is empty.
    this.draw();
  }

  private centre(id: string): void {
    const node = this.diagram?.nodeById.get(id);
    const view = this.viewNow();
    if (node === undefined || view === null) return;
    this.see(centred({ ...view, scale: Math.max(view.scale, NAMED_SCALE) }, node, this.size));
  }

  private zoomAt(factor: number, x: number, y: number): void {
    const view = this.viewNow();
    if (view !== null) this.see(zoomed(view, factor, { x, y }));
  }

  private see(view: View | null): void {
    this.view = view;
    this.drawSoon();
  }

  private viewNow(): View | null {
    if (this.view === null && this.diagram !== null && this.size.width > 0)
      this.view = fitted(this.diagram.nodes, this.size);
    return this.view;
  }

  private press(x: number, y: number): void {
    const { view } = this;
    if (view !== null) this.pressed(this.idAt(x, y), { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale });
  }

  private idAt(x: number, y: number): string | null {
    const { view, scene } = this;
    if (view === null || scene === null) return null;
    return dotAt(scene.scene, x - view.x, y - view.y, REACH)?.id ?? null;
  }

  private drawSoon(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  private draw(): void {
    const view = this.viewNow();
    const context = this.canvas?.getContext("2d", { alpha: false });
    if (view === null || context === null || context === undefined) return;
    if (this.scene?.scale !== view.scale) this.scene = { scale: view.scale, scene: this.sceneAt(view.scale) };
    paint(context, this.scene.scene, {
      view,
      size: this.size,
      ratio: window.devicePixelRatio,
      colours: this.coloursNow(),
    });
  }

  private sceneAt(scale: number): Scene {
    const { diagram, marks } = this;
    if (diagram === null) return { lines: [], dots: [], names: [] };
    return sceneOf(diagram, { ...marks, scale, widthOf: (text, isStrong) => this.widthOf(text, isStrong) });
  }

  private coloursNow(): Colours {
    this.colours ??= coloursAt(this.probe as HTMLSpanElement);
    return this.colours;
  }

  private widthOf(text: string, isStrong: boolean): number {
    const key = `${isStrong} ${text}`;
    const known = this.widths.get(key);
    if (known !== undefined) return known;
    const context = this.canvas?.getContext("2d", { alpha: false });
    if (context === null || context === undefined) return 0;
    context.font = fontOf(isStrong);
    const { width } = context.measureText(text);
    this.widths.set(key, width);
    return width;
  }
}

/** At least so large does one see what a device hangs on. */
const NAMED_SCALE = 0.6;
