// Canvas renderer for a scene that is already laid out.

import type { Scene, SceneDot, SceneLine, SceneName, Tone } from "./scene-parts.ts";
import { type Colors, DASHES, fontOf, NAME_RIM } from "./style.ts";
import type { Point, Size, View } from "./viewport.ts";

const TOKENS: Readonly<Record<Tone, string>> = {
  text: "--text",
  quiet: "--text-quiet",
  line: "--line-strong",
  accent: "--accent",
  added: "--added",
  removed: "--removed",
  ground: "--ground",
};
const TONES = Object.keys(TOKENS) as Tone[];

/** Current colors of the page, light or dark. @param probe invisible element of the page */
export function colorsAt(probe: HTMLElement): Colors {
  const colorOf = (tone: Tone) => {
    // The computed `color` is resolved; a custom property would return its source text.
    probe.style.color = `var(${TOKENS[tone]})`;
    return getComputedStyle(probe).color;
  };
  return Object.fromEntries(TONES.map((tone) => [tone, colorOf(tone)])) as Colors;
}

/** Light colors regardless of the screen theme; a canvas is not repainted with print styles. */
export function printColors(probe: HTMLElement): Colors {
  const { classList } = document.documentElement;
  classList.add("as-paper");
  const colors = colorsAt(probe);
  classList.remove("as-paper");
  return colors;
}

interface PaintOptions {
  readonly view: View;
  /** Ratio of drawn size to layout size. Does not scale text and dots. */
  readonly zoomRatio: number;
  readonly size: Size;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
  readonly colors: Colors;
}

/** Anything farther outside the viewport is invisible, including its name. */
const MARGIN = 120;

export function paint(context: CanvasRenderingContext2D, scene: Scene, options: PaintOptions): void {
  const { view, zoomRatio, size, ratio, colors } = options;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colors.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.translate(view.x, view.y);
  const [left, top] = [(-view.x - MARGIN) / zoomRatio, (-view.y - MARGIN) / zoomRatio];
  const [right, bottom] = [left + (size.width + 2 * MARGIN) / zoomRatio, top + (size.height + 2 * MARGIN) / zoomRatio];
  const isVisible = ({ x, y }: { readonly x: number; readonly y: number }) =>
    x > left && x < right && y > top && y < bottom;
  const isCrossing = ({ x1, y1, x2, y2 }: SceneLine) =>
    Math.max(x1, x2) > left && Math.min(x1, x2) < right && Math.max(y1, y2) > top && Math.min(y1, y2) < bottom;
  paintLines(context, scene.lines.filter(isCrossing), zoomRatio, colors);
  for (const dot of scene.dots) if (isVisible(dot)) paintDot(context, dot, zoomRatio, colors);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const name of scene.names) if (isVisible(name)) paintName(context, name, zoomRatio, colors);
}

/** Draws the dragged device above everything else. @param point in canvas pixels */
export function paintDragged(context: CanvasRenderingContext2D, point: Point, ratio: number, colors: Colors): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintDot(context, { ...DRAGGED_DOT, ...point }, 1, colors);
}

const DRAGGED_DOT = { id: "", radius: 6, tone: "accent", ring: "accent", isHollow: false, isDashed: false } as const;

/** Draws lines of the same style in one pass. */
function paintLines(
  context: CanvasRenderingContext2D,
  lines: readonly SceneLine[],
  zoomRatio: number,
  colors: Colors,
): void {
  const groups = Map.groupBy(lines, ({ tone, width, stroke }) => `${tone} ${width} ${stroke}`);
  context.lineJoin = "round";
  for (const [first, ...others] of groups.values()) {
    if (first === undefined) continue;
    context.strokeStyle = colors[first.tone];
    context.lineWidth = first.width;
    context.setLineDash(DASHES[first.stroke] as number[]);
    context.beginPath();
    for (const { x1, y1, x2, y2, via } of [first, ...others]) {
      context.moveTo(x1 * zoomRatio, y1 * zoomRatio);
      for (const { x, y } of via) context.lineTo(x * zoomRatio, y * zoomRatio);
      context.lineTo(x2 * zoomRatio, y2 * zoomRatio);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

function paintDot(context: CanvasRenderingContext2D, dot: SceneDot, zoomRatio: number, colors: Colors): void {
  const [x, y] = [dot.x * zoomRatio, dot.y * zoomRatio];
  context.beginPath();
  context.arc(x, y, dot.radius, 0, Math.PI * 2);
  context.fillStyle = colors[dot.isHollow ? "ground" : dot.tone];
  context.fill();
  if (dot.isHollow) {
    context.strokeStyle = colors[dot.tone];
    context.lineWidth = 1.5;
    context.setLineDash(dot.isDashed ? [3, 2] : []);
    context.stroke();
    context.setLineDash([]);
  }
  if (dot.ring === null) return;
  context.beginPath();
  context.arc(x, y, dot.radius + 3.5, 0, Math.PI * 2);
  context.strokeStyle = colors[dot.ring];
  context.lineWidth = 2;
  context.stroke();
}

/** Adds an outline in the background color, so that lines behind the name do not strike it out. */
function paintName(context: CanvasRenderingContext2D, name: SceneName, zoomRatio: number, colors: Colors): void {
  context.font = fontOf(name.isStrong);
  context.lineWidth = NAME_RIM;
  context.strokeStyle = colors.ground;
  context.strokeText(name.text, name.x * zoomRatio, name.y * zoomRatio);
  context.fillStyle = colors[name.tone];
  context.fillText(name.text, name.x * zoomRatio, name.y * zoomRatio);
}
