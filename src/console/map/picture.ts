// Canvas state of the map: viewport, scene and redraws, at most one per frame. Reports the viewport after it
// settles.

import type { Diagram } from "./diagram.ts";
import { gestures } from "./gestures.ts";
import { coloursAt, coloursOfPaper, paint, paintCarried } from "./paint.ts";
import { dotAt, sceneOf } from "./scene.ts";
import type { Scene, SceneOptions } from "./scene-parts.ts";
import { Stretching } from "./stretch.ts";
import { type Colours, fontOf } from "./style.ts";
import { addressOfView, centred, fitted, moved, type Point, type Size, type View, viewAt, zoomed } from "./viewport.ts";

/** Highlights in the picture. */
export type Marks = Pick<SceneOptions, "chosenId" | "way" | "found">;

/** Commands for controls outside the picture. */
export interface Control {
  readonly zoom: (factor: number) => void;
  readonly move: (dx: number, dy: number) => void;
  readonly showAll: () => void;
  readonly centre: (id: string) => void;
  /** Reports the viewport immediately instead of after the rest delay. */
  readonly settle: () => void;
  /** The whole map at a scale, for export. */
  readonly sceneAt: (scale: number) => { readonly scene: Scene; readonly colours: Colours };
  readonly hasFocus: () => boolean;
}

/** Content to show. */
export interface PictureOf {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** Identity of the map: a new one is fitted to the canvas, the same one keeps its position. */
  readonly subject: string;
  /** Viewport from the URL; null for the whole map. */
  readonly place: string | null;
}

/** Distance from a device within which a click selects it, in pixels. */
const REACH = 8;
/** Delay after the last movement until the viewport is reported. */
const REST_MS = 250;
/** Delay after the last zoom step until the scene is laid out for the new scale. */
const ZOOM_REST_MS = 120;
/** Limit for scaling a scene laid out for another scale. */
const GROWN_MAX = 1.8;
/** A device closer than this to the border shows too little of its surroundings. */
const EDGE = 80;
/** Smallest scale at which the connections of a device are readable. */
const NAMED_SCALE = 0.6;

export class Picture {
  /** Press on a device, or on none (null), with the position on the map. */
  pressed: (id: string | null, where: Point) => void = () => {};
  /** Viewport for the URL; null for the whole map. */
  rested: (place: string | null) => void = () => {};
  /** Device moved by a drag; null if a drag pans the map. */
  carriedId: string | null = null;
  /** Position of the dragged device, in canvas pixels. */
  private carried: Point | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private context: CanvasRenderingContext2D | null = null;
  private probe: HTMLSpanElement | null = null;
  /** As passed in, before stretching. */
  private given: Diagram | null = null;
  private readonly stretching = new Stretching();
  private marks: Marks = { chosenId: null, way: new Set(), found: null };
  private subject: string | null = null;
  /** Viewport last reported or received. */
  private place: string | null = null;
  private resting: ReturnType<typeof setTimeout> | null = null;
  /** Set while zooming, when a scene laid out for another scale is drawn scaled. */
  private zooming: ReturnType<typeof setTimeout> | null = null;
  private size: Size = { width: 0, height: 0 };
  private view: View | null = null;
  /** Whether the viewport is the default one, without a URL parameter. */
  private isWhole = true;
  private colours: Colours | null = null;
  private scene: { readonly scale: number; readonly scene: Scene } | null = null;
  private frame: number | null = null;
  private readonly widths = { plain: new Map<string, number>(), strong: new Map<string, number>() };

  readonly control: Control = {
    zoom: (factor) => this.zoomAt(factor, this.size.width / 2, this.size.height / 2),
    move: (dx, dy) => this.see(this.view === null ? null : moved(this.view, dx, dy)),
    showAll: () => {
      this.stretching.forget();
      this.scene = null;
      this.see(null);
      this.settle();
    },
    centre: (id) => this.centre(id),
    settle: () => this.settle(),
    sceneAt: (scale) => ({ scene: this.sceneAt(scale), colours: this.coloursNow() }),
    hasFocus: () => this.canvas !== null && document.activeElement === this.canvas.parentElement,
  };

  /** @returns a function that stops the picture */
  start(canvas: HTMLCanvasElement, probe: HTMLSpanElement): () => void {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.probe = probe;
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(canvas);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => {
      this.colours = null;
      this.drawSoon();
    };
    dark.addEventListener("change", recolour);
    const printing = (isPaper: boolean) => () => {
      this.colours = isPaper ? coloursOfPaper(probe) : null;
      this.draw();
    };
    const listening = new AbortController();
    window.addEventListener("beforeprint", printing(true), { signal: listening.signal });
    window.addEventListener("afterprint", printing(false), { signal: listening.signal });
    const stopGestures = gestures(canvas, {
      move: (dx, dy) => this.control.move(dx, dy),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      press: (x, y) => this.press(x, y),
      hover: (x, y) => {
        const id = this.idAt(x, y);
        canvas.style.cursor = id === null ? "grab" : id === this.carriedId ? "move" : "pointer";
        // Full name, for labels that are shortened or omitted.
        canvas.title = id === null ? "" : (this.given?.nodeById.get(id)?.label ?? "");
      },
      carries: (x, y) => this.carriedId !== null && this.idAt(x, y) === this.carriedId,
      carry: (x, y) => this.carry({ x, y }),
      drop: (where) => {
        this.carry(null);
        if (where !== null) this.press(where.x, where.y);
      },
    });
    this.resize();
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", recolour);
      listening.abort();
      stopGestures();
      for (const timer of [this.resting, this.zooming]) if (timer !== null) clearTimeout(timer);
      if (this.frame !== null) cancelAnimationFrame(this.frame);
    };
  }

  show({ diagram, marks, subject, place }: PictureOf): void {
    this.given = diagram;
    if (subject !== this.subject) this.stretching.forget();
    if (this.subject !== null && subject !== this.subject) {
      this.view = null;
      this.isWhole = true;
      // A viewport of another map does not apply to this one.
      if (place === this.place && place !== null) this.restSoon();
      else this.take(place);
    } else if (this.subject === null || place !== this.place) this.take(place);
    this.marks = marks;
    this.subject = subject;
    this.scene = null;
    this.drawSoon();
  }

  /** Applies the viewport from the URL. */
  private take(place: string | null): void {
    if (this.resting !== null) clearTimeout(this.resting);
    this.resting = null;
    this.place = place;
    this.isWhole = place === null;
    this.view = viewAt(place, this.size, this.stretchNow());
  }

  private restSoon(): void {
    if (this.resting !== null) clearTimeout(this.resting);
    this.resting = setTimeout(() => this.settle(), REST_MS);
  }

  private settle(): void {
    if (this.resting === null) return;
    clearTimeout(this.resting);
    this.resting = null;
    const place = this.view === null || this.isWhole ? null : addressOfView(this.view, this.size, this.stretchNow());
    if (place === this.place) return;
    this.place = place;
    this.rested(place);
  }

  private resize(): void {
    const { canvas } = this;
    if (canvas === null) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const { size } = this;
    if (this.isWhole) {
      this.view = null;
      this.stretching.forget();
      this.scene = null;
    }
    const { view } = this;
    // Keep the center.
    if (view !== null && size.width > 0) this.view = moved(view, (width - size.width) / 2, (height - size.height) / 2);
    this.size = { width, height };
    if (view === null) this.view = viewAt(this.place, this.size, this.stretchNow());
    const ratio = window.devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    // Resizing clears a canvas.
    this.draw();
  }

  private centre(id: string): void {
    const node = this.diagramNow()?.nodeById.get(id);
    const view = this.viewNow();
    if (node === undefined || view === null) return;
    const [x, y] = [node.x * view.scale + view.x, node.y * view.scale + view.y];
    const { width, height } = this.size;
    const isSeen = x > EDGE && y > EDGE && x < width - EDGE && y < height - EDGE;
    if (isSeen && view.scale >= NAMED_SCALE) return;
    this.see(centred({ ...view, scale: Math.max(view.scale, NAMED_SCALE) }, node, this.size));
  }

  private zoomAt(factor: number, x: number, y: number): void {
    const view = this.viewNow();
    if (view === null) return;
    this.see(zoomed(view, factor, { x, y }));
    if (this.zooming === null) this.scene = null;
    else clearTimeout(this.zooming);
    this.zooming = setTimeout(() => {
      this.zooming = null;
      this.drawSoon();
    }, ZOOM_REST_MS);
  }

  private see(view: View | null): void {
    this.view = view;
    this.isWhole = view === null;
    this.restSoon();
    this.drawSoon();
  }

  private viewNow(): View | null {
    const diagram = this.diagramNow();
    if (this.view === null && diagram !== null && this.size.width > 0) this.view = fitted(diagram.nodes, this.size);
    return this.view;
  }

  private stretchNow(): number {
    return this.stretching.factor(this.given, this.size);
  }

  private diagramNow(): Diagram | null {
    return this.given === null ? null : this.stretching.drawn(this.given, this.size);
  }

  private carry(where: Point | null): void {
    this.carried = where;
    this.drawSoon();
  }

  private press(x: number, y: number): void {
    const { view } = this;
    if (view === null) return;
    const where = { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale / this.stretchNow() };
    this.pressed(this.idAt(x, y), where);
  }

  private idAt(x: number, y: number): string | null {
    const { view, scene } = this;
    if (view === null || scene === null) return null;
    const grown = view.scale / scene.scale;
    return dotAt(scene.scene, (x - view.x) / grown, (y - view.y) / grown, REACH)?.id ?? null;
  }

  private drawSoon(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  private draw(): void {
    const { context } = this;
    const view = this.viewNow();
    if (view === null || context === null) return;
    const last = this.scene?.scale ?? 0;
    const isNear = this.zooming !== null && view.scale < last * GROWN_MAX && last < view.scale * GROWN_MAX;
    if (this.scene === null || (last !== view.scale && !isNear))
      this.scene = { scale: view.scale, scene: this.sceneAt(view.scale) };
    paint(context, this.scene.scene, {
      view,
      grown: view.scale / this.scene.scale,
      size: this.size,
      ratio: window.devicePixelRatio,
      colours: this.coloursNow(),
    });
    if (this.carried !== null) paintCarried(context, this.carried, window.devicePixelRatio, this.coloursNow());
  }

  private sceneAt(scale: number): Scene {
    const { marks } = this;
    const diagram = this.diagramNow();
    if (diagram === null) return { lines: [], dots: [], names: [] };
    return sceneOf(diagram, { ...marks, scale, widthOf: (text, isStrong) => this.widthOf(text, isStrong) });
  }

  private coloursNow(): Colours {
    this.colours ??= coloursAt(this.probe as HTMLSpanElement);
    return this.colours;
  }

  private widthOf(text: string, isStrong: boolean): number {
    const known = this.widths[isStrong ? "strong" : "plain"];
    const last = known.get(text);
    if (last !== undefined) return last;
    const { context } = this;
    if (context === null) return 0;
    // Summing cached letter widths is exact enough for Latin text; other scripts are shaped by context.
    const isLetters = text.length > 1 && LATIN.test(text);
    let width = 0;
    if (isLetters) for (const letter of text) width += this.widthOf(letter, isStrong);
    else {
      context.font = fontOf(isStrong);
      width = context.measureText(text).width;
    }
    known.set(text, width);
    return width;
  }
}

const LATIN = /^[\u0020-\u024f…−]*$/u;
