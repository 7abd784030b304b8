// What a canvas shows of the map: which part of it, how large, drawn anew at most once a frame. Which part that is, is
// told to whoever keeps it once the picture rests.

import type { Diagram } from "./diagram.ts";
import { gestures } from "./gestures.ts";
import { coloursAt, coloursOfPaper, paint, paintCarried } from "./paint.ts";
import { dotAt, sceneOf } from "./scene.ts";
import type { Scene, SceneOptions } from "./scene-parts.ts";
import { Stretching } from "./stretch.ts";
import { type Colours, fontOf } from "./style.ts";
import { addressOfView, centred, fitted, moved, type Point, type Size, type View, viewAt, zoomed } from "./viewport.ts";

/** What is marked in the picture. */
export type Marks = Pick<SceneOptions, "chosenId" | "way" | "found">;

/** What stands beside the picture can move it. */
export interface Control {
  readonly zoom: (factor: number) => void;
  readonly move: (dx: number, dy: number) => void;
  readonly showAll: () => void;
  readonly centre: (id: string) => void;
  /** Tells now what would be told once the picture rests. */
  readonly settle: () => void;
  /** All of it at a size, as for a file. */
  readonly sceneAt: (scale: number) => { readonly scene: Scene; readonly colours: Colours };
  readonly hasFocus: () => boolean;
}

/** What is to be shown. */
export interface PictureOf {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** What the map is of: another one is shown whole, the same one stays where it is. */
  readonly subject: string;
  /** Which part of it, as the address has it; null for all of it. */
  readonly place: string | null;
}

/** As far from a device as a click still means it, in pixels. */
const REACH = 8;
/** So long after the last move, the picture rests. */
const REST_MS = 250;
/** What is zoomed on and on is laid out anew once it rests so long. */
const ZOOM_REST_MS = 120;
/** What was laid out for another size is drawn at most so many times larger or smaller. */
const GROWN_MAX = 1.8;
/** Nearer to the border of the picture, too little is seen around a device. */
const EDGE = 80;
/** At least so large does one see what a device hangs on. */
const NAMED_SCALE = 0.6;

export class Picture {
  /** A press: on a device or on none, and where on the map. */
  pressed: (id: string | null, where: Point) => void = () => {};
  /** Which part is shown, as the address has it; null for all. */
  rested: (place: string | null) => void = () => {};
  /** The device that a drag carries; null where it moves the picture. */
  carriedId: string | null = null;
  /** Where it is being carried, in pixels of the canvas. */
  private carried: Point | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private context: CanvasRenderingContext2D | null = null;
  private probe: HTMLSpanElement | null = null;
  /** As it was given. */
  private given: Diagram | null = null;
  private readonly stretching = new Stretching();
  private marks: Marks = { chosenId: null, way: new Set(), found: null };
  private subject: string | null = null;
  /** As it was told last, or told us. */
  private place: string | null = null;
  private resting: ReturnType<typeof setTimeout> | null = null;
  /** While one zooms, what was laid out for another size is drawn larger or smaller. */
  private zooming: ReturnType<typeof setTimeout> | null = null;
  private size: Size = { width: 0, height: 0 };
  private view: View | null = null;
  /** Whether it is what is shown where nobody says which part. */
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

  /** @returns what ends it */
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
        // Whole, where it is shortened or left out.
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
      // The part of another map is no part of this one.
      if (place === this.place && place !== null) this.restSoon();
      else this.take(place);
    } else if (this.subject === null || place !== this.place) this.take(place);
    this.marks = marks;
    this.subject = subject;
    this.scene = null;
    this.drawSoon();
  }

  /** Shows what the address says. */
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
    // What was in the middle stays there.
    if (view !== null && size.width > 0) this.view = moved(view, (width - size.width) / 2, (height - size.height) / 2);
    this.size = { width, height };
    if (view === null) this.view = viewAt(this.place, this.size, this.stretchNow());
    const ratio = window.devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    // A canvas that is given its size is empty.
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
    // Letter by letter is exact enough, and there are few letters; others are shaped by those beside them.
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
