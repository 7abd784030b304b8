// Canvas state of the map: viewport, scene and redraws, at most one per frame.

import type { Diagram } from "./diagram.ts";
import { listenForGestures } from "./gestures.ts";
import { colorsAt, paint, paintDragged, printColors } from "./paint.ts";
import { dotAt, sceneOf } from "./scene.ts";
import type { Scene, SceneOptions } from "./scene-parts.ts";
import { StretchState } from "./stretch.ts";
import { type Colors, fontOf } from "./style.ts";
import {
  centered,
  fitted,
  moved,
  type Point,
  type Size,
  type View,
  viewAt,
  viewParameter,
  zoomed,
} from "./viewport.ts";

/** Highlights in the picture. */
export type Marks = Omit<SceneOptions, "scale" | "widthOf">;

/** Commands for controls outside the picture. */
export interface Control {
  readonly zoom: (factor: number) => void;
  readonly move: (dx: number, dy: number) => void;
  readonly showAll: () => void;
  readonly center: (id: string) => void;
  /** Reports the viewport immediately instead of after the rest delay. */
  readonly settle: () => void;
  /** The whole map at a scale, for export. */
  readonly sceneAt: (scale: number) => { readonly scene: Scene; readonly colors: Colors };
  readonly hasFocus: () => boolean;
}

/** Content to show. */
export interface PictureContent {
  readonly diagram: Diagram;
  readonly marks: Marks;
  /** Identity of the map: a new one is fitted to the canvas, the same one keeps its position. */
  readonly subject: string;
  /** Viewport from the URL; null for the whole map. */
  readonly viewport: string | null;
}

/** Distance from a device within which a click selects it, in pixels. */
const PICK_DISTANCE = 8;
/** Delay after the last movement until the viewport is reported. */
const REST_MS = 250;
/** Delay after the last zoom step until the scene is laid out for the new scale. */
const ZOOM_REST_MS = 120;
/** Limit for scaling a scene laid out for another scale. */
const RESCALE_MAX = 1.8;
/** A device closer than this to the border shows too little of its surroundings. */
const EDGE = 80;
/** Smallest scale at which the connections of a device are readable. */
const NAMED_SCALE = 0.6;

export class Picture {
  /** @param id pressed device; null for none @param point position on the map */
  onPress: (id: string | null, point: Point) => void = () => {};
  /** @param viewport as in the URL; null for the whole map */
  onViewport: (viewport: string | null) => void = () => {};
  /** Device moved by a drag; null if a drag pans the map. */
  draggedId: string | null = null;
  /** Position of the dragged device, in canvas pixels. */
  private draggedTo: Point | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private context: CanvasRenderingContext2D | null = null;
  private probe: HTMLSpanElement | null = null;
  /** Diagram as passed in, before stretching. */
  private source: Diagram | null = null;
  private readonly stretching = new StretchState();
  private marks: Marks = { selectedId: null, path: new Set(), found: null };
  private subject: string | null = null;
  /** Viewport last reported or received. */
  private viewport: string | null = null;
  private restTimer: ReturnType<typeof setTimeout> | null = null;
  /** Set while zooming, when a scene laid out for another scale is drawn scaled. */
  private zoomTimer: ReturnType<typeof setTimeout> | null = null;
  private size: Size = { width: 0, height: 0 };
  private view: View | null = null;
  /** Whether the viewport is the default one, without a URL parameter. */
  private isDefaultView = true;
  private colors: Colors | null = null;
  private scene: { readonly scale: number; readonly scene: Scene } | null = null;
  private frame: number | null = null;
  private readonly widths = { plain: new Map<string, number>(), strong: new Map<string, number>() };

  readonly control: Control = {
    zoom: (factor) => this.zoomAt(factor, this.size.width / 2, this.size.height / 2),
    move: (dx, dy) => this.setView(this.view === null ? null : moved(this.view, dx, dy)),
    showAll: () => {
      this.stretching.forget();
      this.scene = null;
      this.setView(null);
      this.settle();
    },
    center: (id) => this.center(id),
    settle: () => this.settle(),
    sceneAt: (scale) => ({ scene: this.sceneAt(scale), colors: this.currentColors() }),
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
    const recolor = () => {
      this.colors = null;
      this.scheduleDraw();
    };
    dark.addEventListener("change", recolor);
    const onPrint = (isPaper: boolean) => () => {
      this.colors = isPaper ? printColors(probe) : null;
      this.draw();
    };
    const listening = new AbortController();
    window.addEventListener("beforeprint", onPrint(true), { signal: listening.signal });
    window.addEventListener("afterprint", onPrint(false), { signal: listening.signal });
    const stopGestures = listenForGestures(canvas, {
      move: (dx, dy) => this.control.move(dx, dy),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      press: (x, y) => this.press(x, y),
      hover: (x, y) => {
        const id = this.idAt(x, y);
        canvas.style.cursor = id === null ? "grab" : id === this.draggedId ? "move" : "pointer";
        // Full name, for labels that are shortened or omitted.
        canvas.title = id === null ? "" : (this.source?.nodeById.get(id)?.label ?? "");
      },
      canDrag: (x, y) => this.draggedId !== null && this.idAt(x, y) === this.draggedId,
      drag: (x, y) => this.dragTo({ x, y }),
      drop: (point) => {
        this.dragTo(null);
        if (point !== null) this.press(point.x, point.y);
      },
    });
    this.resize();
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", recolor);
      listening.abort();
      stopGestures();
      for (const timer of [this.restTimer, this.zoomTimer]) if (timer !== null) clearTimeout(timer);
      if (this.frame !== null) cancelAnimationFrame(this.frame);
    };
  }

  show({ diagram, marks, subject, viewport }: PictureContent): void {
    this.source = diagram;
    if (subject !== this.subject) this.stretching.forget();
    if (this.subject !== null && subject !== this.subject) {
      this.view = null;
      this.isDefaultView = true;
      // A viewport of another map does not apply here.
      if (viewport === this.viewport && viewport !== null) this.scheduleReport();
      else this.applyViewport(viewport);
    } else if (this.subject === null || viewport !== this.viewport) this.applyViewport(viewport);
    this.marks = marks;
    this.subject = subject;
    this.scene = null;
    this.scheduleDraw();
  }

  /** Applies the viewport from the URL. */
  private applyViewport(viewport: string | null): void {
    if (this.restTimer !== null) clearTimeout(this.restTimer);
    this.restTimer = null;
    this.viewport = viewport;
    this.isDefaultView = viewport === null;
    this.view = viewAt(viewport, this.size, this.currentStretch());
  }

  private scheduleReport(): void {
    if (this.restTimer !== null) clearTimeout(this.restTimer);
    this.restTimer = setTimeout(() => this.settle(), REST_MS);
  }

  private settle(): void {
    if (this.restTimer === null) return;
    clearTimeout(this.restTimer);
    this.restTimer = null;
    const viewport =
      this.view === null || this.isDefaultView ? null : viewParameter(this.view, this.size, this.currentStretch());
    if (viewport === this.viewport) return;
    this.viewport = viewport;
    this.onViewport(viewport);
  }

  private resize(): void {
    const { canvas } = this;
    if (canvas === null) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const { size } = this;
    if (this.isDefaultView) {
      this.view = null;
      this.stretching.forget();
      this.scene = null;
    }
    const { view } = this;
    // Keep the center.
    if (view !== null && size.width > 0) this.view = moved(view, (width - size.width) / 2, (height - size.height) / 2);
    this.size = { width, height };
    if (view === null) this.view = viewAt(this.viewport, this.size, this.currentStretch());
    const ratio = window.devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    // Resizing clears a canvas.
    this.draw();
  }

  private center(id: string): void {
    const node = this.currentDiagram()?.nodeById.get(id);
    const view = this.currentView();
    if (node === undefined || view === null) return;
    const [x, y] = [node.x * view.scale + view.x, node.y * view.scale + view.y];
    const { width, height } = this.size;
    const isVisible = x > EDGE && y > EDGE && x < width - EDGE && y < height - EDGE;
    if (isVisible && view.scale >= NAMED_SCALE) return;
    this.setView(centered({ ...view, scale: Math.max(view.scale, NAMED_SCALE) }, node, this.size));
  }

  private zoomAt(factor: number, x: number, y: number): void {
    const view = this.currentView();
    if (view === null) return;
    this.setView(zoomed(view, factor, { x, y }));
    if (this.zoomTimer === null) this.scene = null;
    else clearTimeout(this.zoomTimer);
    this.zoomTimer = setTimeout(() => {
      this.zoomTimer = null;
      this.scheduleDraw();
    }, ZOOM_REST_MS);
  }

  private setView(view: View | null): void {
    this.view = view;
    this.isDefaultView = view === null;
    this.scheduleReport();
    this.scheduleDraw();
  }

  private currentView(): View | null {
    const diagram = this.currentDiagram();
    if (this.view === null && diagram !== null && this.size.width > 0) this.view = fitted(diagram.nodes, this.size);
    return this.view;
  }

  private currentStretch(): number {
    return this.stretching.factor(this.source, this.size);
  }

  private currentDiagram(): Diagram | null {
    return this.source === null ? null : this.stretching.stretchedDiagram(this.source, this.size);
  }

  private dragTo(point: Point | null): void {
    this.draggedTo = point;
    this.scheduleDraw();
  }

  private press(x: number, y: number): void {
    const { view } = this;
    if (view === null) return;
    const point = { x: (x - view.x) / view.scale, y: (y - view.y) / view.scale / this.currentStretch() };
    this.onPress(this.idAt(x, y), point);
  }

  private idAt(x: number, y: number): string | null {
    const { view, scene } = this;
    if (view === null || scene === null) return null;
    const zoomRatio = view.scale / scene.scale;
    return dotAt(scene.scene, (x - view.x) / zoomRatio, (y - view.y) / zoomRatio, PICK_DISTANCE)?.id ?? null;
  }

  private scheduleDraw(): void {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  private draw(): void {
    const { context } = this;
    const view = this.currentView();
    if (view === null || context === null) return;
    const last = this.scene?.scale ?? 0;
    const isNear = this.zoomTimer !== null && view.scale < last * RESCALE_MAX && last < view.scale * RESCALE_MAX;
    if (this.scene === null || (last !== view.scale && !isNear))
      this.scene = { scale: view.scale, scene: this.sceneAt(view.scale) };
    paint(context, this.scene.scene, {
      view,
      zoomRatio: view.scale / this.scene.scale,
      size: this.size,
      ratio: window.devicePixelRatio,
      colors: this.currentColors(),
    });
    if (this.draggedTo !== null) paintDragged(context, this.draggedTo, window.devicePixelRatio, this.currentColors());
  }

  private sceneAt(scale: number): Scene {
    const { marks } = this;
    const diagram = this.currentDiagram();
    if (diagram === null) return { lines: [], dots: [], names: [] };
    return sceneOf(diagram, { ...marks, scale, widthOf: (text, isStrong) => this.widthOf(text, isStrong) });
  }

  private currentColors(): Colors {
    this.colors ??= colorsAt(this.probe as HTMLSpanElement);
    return this.colors;
  }

  private widthOf(text: string, isStrong: boolean): number {
    const cache = this.widths[isStrong ? "strong" : "plain"];
    const last = cache.get(text);
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
    cache.set(text, width);
    return width;
  }
}

const LATIN = /^[\u0020-\u024f…−]*$/u;
