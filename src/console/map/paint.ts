// Draws a scene on a canvas. It decides nothing: what is drawn where is in the scene.

import type { Scene, SceneDot, SceneLine, SceneName, Tone } from "./scene.ts";
import { type Colours, DASHES, fontOf, NAME_RIM } from "./style.ts";
import type { Size, View } from "./viewport.ts";

const TOKENS: Readonly<Record<Tone, string>> = {
  text: "--text",
  quiet: "--text-quiet",
  line: "--line-strong",
  accent: "--accent",
  added: "--added",
  removed: "--removed",
  ground: "--ground",
};

/** The colours of the page as they are now: light or dark. @param probe an element of the page that nobody sees */
export function coloursAt(probe: HTMLElement): Colours {
  const of = (tone: Tone) => {
    // A custom property is answered as it was written; a colour as what it is.
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

interface PaintOptions {
  readonly view: View;
  readonly size: Size;
  /** Pixels of the device for each CSS pixel. */
  readonly ratio: number;
  readonly colours: Colours;
}

/** What lies farther out is not seen, with its name. */
const MARGIN = 120;

export function paint(context: CanvasRenderingContext2D, scene: Scene, options: PaintOptions): void {
  const { view, size, ratio, colours } = options;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.translate(view.x, view.y);
  const [left, top] = [-view.x - MARGIN, -view.y - MARGIN];
  const [right, bottom] = [left + size.width + 2 * MARGIN, top + size.height + 2 * MARGIN];
  const isSeen = ({ x, y }: { readonly x: number; readonly y: number }) =>
    x > left && x < right && y > top && y < bottom;
  const isCrossing = ({ x1, y1, x2, y2 }: SceneLine) =>
    Math.max(x1, x2) > left && Math.min(x1, x2) < right && Math.max(y1, y2) > top && Math.min(y1, y2) < bottom;
  paintLines(context, scene.lines.filter(isCrossing), colours);
  for (const dot of scene.dots) if (isSeen(dot)) paintDot(context, dot, colours);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const name of scene.names) if (isSeen(name)) paintName(context, name, colours);
}

/** Those that look the same are drawn at once. */
function paintLines(context: CanvasRenderingContext2D, lines: readonly SceneLine[], colours: Colours): void {
  const alike = Map.groupBy(lines, ({ tone, width, stroke }) => `${tone} ${width} ${stroke}`);
  context.lineJoin = "round";
  for (const [first, ...others] of alike.values()) {
    if (first === undefined) continue;
    context.strokeStyle = colours[first.tone];
    context.lineWidth = first.width;
    context.setLineDash(DASHES[first.stroke] as number[]);
    context.beginPath();
    for (const { x1, y1, x2, y2, via } of [first, ...others]) {
      context.moveTo(x1, y1);
      for (const { x, y } of via) context.lineTo(x, y);
      context.lineTo(x2, y2);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

function paintDot(context: CanvasRenderingContext2D, dot: SceneDot, colours: Colours): void {
  context.beginPath();
  context.arc(dot.x, dot.y, dot.radius, 0, Math.PI * 2);
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
  context.arc(dot.x, dot.y, dot.radius + 3.5, 0, Math.PI * 2);
  context.strokeStyle = colours[dot.ring];
  context.lineWidth = 2;
  context.stroke();
}

/** With a rim of the colour of the ground: a line behind it does not cross it out. */
function paintName(context: CanvasRenderingContext2D, name: SceneName, colours: Colours): void {
  context.font = fontOf(name.isStrong);
  context.lineWidth = NAME_RIM;
  context.strokeStyle = colours.ground;
  context.strokeText(name.text, name.x, name.y);
  context.fillStyle = colours[name.tone];
  context.fillText(name.text, name.x, name.y);
}
