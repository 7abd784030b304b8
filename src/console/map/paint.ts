// Draws a scene on a canvas. It decides nothing: what is drawn where is in the scene.

import { NAME_HEIGHT, type Scene, type SceneDot, type SceneLine, type SceneName, type Tone } from "./scene.ts";
import { type Colours, DASHES, fontOf } from "./style.ts";
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
  for (const line of scene.lines) {
    if (Math.max(line.x1, line.x2) < left || Math.min(line.x1, line.x2) > right) continue;
    if (Math.max(line.y1, line.y2) < top || Math.min(line.y1, line.y2) > bottom) continue;
    paintLine(context, line, colours);
  }
  context.setLineDash([]);
  for (const dot of scene.dots) if (isSeen(dot)) paintDot(context, dot, colours);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const name of scene.names) if (isSeen(name)) paintName(context, name, colours);
}

function paintLine(context: CanvasRenderingContext2D, line: SceneLine, colours: Colours): void {
  context.strokeStyle = colours[line.tone];
  context.lineWidth = line.width;
  context.setLineDash(DASHES[line.stroke] as number[]);
  context.beginPath();
  context.moveTo(line.x1, line.y1);
  context.lineTo(line.x2, line.y2);
  context.stroke();
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

/** On the colour of the ground: a line behind it does not cross it out. */
function paintName(context: CanvasRenderingContext2D, name: SceneName, colours: Colours): void {
  context.fillStyle = colours.ground;
  context.fillRect(name.x - name.width / 2, name.y - NAME_HEIGHT / 2, name.width, NAME_HEIGHT);
  context.font = fontOf(name.isStrong);
  context.fillStyle = colours[name.tone];
  context.fillText(name.text, name.x, name.y);
}
