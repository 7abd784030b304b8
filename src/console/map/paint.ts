// Canvas renderer for a scene. Must not decide on content or positions.

import type { Scene, SceneDot, SceneLine, SceneName, Tone } from "./scene-parts.ts";
import { type Colours, DASHES, fontOf, NAME_RIM } from "./style.ts";
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

/** Current colors of the page, light or dark. @param probe invisible element of the page */
export function coloursAt(probe: HTMLElement): Colours {
  const of = (tone: Tone) => {
    // The computed `color` is resolved; a custom property would return its source text.
    probe.style.color = `var(${TOKENS[tone]})`;
    return getComputedStyle(probe).color;
  };
  return {
    text: of("text"),
    quiet: of("quiet"),
    line: of("line"),
    accent: of("accent"),
    added: of("added"),
    removed: of("removed"),
    ground: of("ground"),
  };
}

/** Light colors regardless of the screen theme; a canvas is not repainted with print styles. */
export function coloursOfPaper(probe: HTMLElement): Colours {
  const { classList } = document.documentElement;
  classList.add("as-paper");
  const colours = coloursAt(probe);
  classList.remove("as-paper");
  return colours;
}

interface PaintOptions {
  readonly view: View;
  /** Ratio of drawn size to layout size. Does not scale text and dots. */
  readonly grown: number;
  readonly size: Size;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
  readonly colours: Colours;
}

/** Anything farther outside the viewport is invisible, including its name. */
const MARGIN = 120;

export function paint(context: CanvasRenderingContext2D, scene: Scene, options: PaintOptions): void {
  const { view, grown, size, ratio, colours } = options;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.translate(view.x, view.y);
  const [left, top] = [(-view.x - MARGIN) / grown, (-view.y - MARGIN) / grown];
  const [right, bottom] = [left + (size.width + 2 * MARGIN) / grown, top + (size.height + 2 * MARGIN) / grown];
  const isSeen = ({ x, y }: { readonly x: number; readonly y: number }) =>
    x > left && x < right && y > top && y < bottom;
  const isCrossing = ({ x1, y1, x2, y2 }: SceneLine) =>
    Math.max(x1, x2) > left && Math.min(x1, x2) < right && Math.max(y1, y2) > top && Math.min(y1, y2) < bottom;
  paintLines(context, scene.lines.filter(isCrossing), grown, colours);
  for (const dot of scene.dots) if (isSeen(dot)) paintDot(context, dot, grown, colours);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const name of scene.names) if (isSeen(name)) paintName(context, name, grown, colours);
}

/** A device being dragged, above everything else. @param where in canvas pixels */
export function paintCarried(context: CanvasRenderingContext2D, where: Point, ratio: number, colours: Colours): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintDot(context, { ...CARRIED, ...where }, 1, colours);
}

const CARRIED = { id: "", radius: 6, tone: "accent", ring: "accent", isHollow: false, isBroken: false } as const;

/** Draws lines of the same style in one pass. */
function paintLines(
  context: CanvasRenderingContext2D,
  lines: readonly SceneLine[],
  grown: number,
  colours: Colours,
): void {
  const alike = Map.groupBy(lines, ({ tone, width, stroke }) => `${tone} ${width} ${stroke}`);
  context.lineJoin = "round";
  for (const [first, ...others] of alike.values()) {
    if (first === undefined) continue;
    context.strokeStyle = colours[first.tone];
    context.lineWidth = first.width;
    context.setLineDash(DASHES[first.stroke] as number[]);
    context.beginPath();
    for (const { x1, y1, x2, y2, via } of [first, ...others]) {
      context.moveTo(x1 * grown, y1 * grown);
      for (const { x, y } of via) context.lineTo(x * grown, y * grown);
      context.lineTo(x2 * grown, y2 * grown);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

function paintDot(context: CanvasRenderingContext2D, dot: SceneDot, grown: number, colours: Colours): void {
  const [x, y] = [dot.x * grown, dot.y * grown];
  context.beginPath();
  context.arc(x, y, dot.radius, 0, Math.PI * 2);
  context.fillStyle = colours[dot.isHollow ? "ground" : dot.tone];
  context.fill();
  if (dot.isHollow) {
    context.strokeStyle = colours[dot.tone];
    context.lineWidth = 1.5;
    context.setLineDash(dot.isBroken ? [3, 2] : []);
    context.stroke();
    context.setLineDash([]);
  }
  if (dot.ring === null) return;
  context.beginPath();
  context.arc(x, y, dot.radius + 3.5, 0, Math.PI * 2);
  context.strokeStyle = colours[dot.ring];
  context.lineWidth = 2;
  context.stroke();
}

/** With an outline in the background color, so that lines behind the name do not strike it out. */
function paintName(context: CanvasRenderingContext2D, name: SceneName, grown: number, colours: Colours): void {
  context.font = fontOf(name.isStrong);
  context.lineWidth = NAME_RIM;
  context.strokeStyle = colours.ground;
  context.strokeText(name.text, name.x * grown, name.y * grown);
  context.fillStyle = colours[name.tone];
  context.fillText(name.text, name.x * grown, name.y * grown);
}
