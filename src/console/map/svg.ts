// SVG export of a scene, standalone so that it looks the same in any viewer.

import { NAME_HEIGHT, NAME_SIZE, type Scene, type SceneDot, type SceneLine, type SceneName } from "./scene-parts.ts";
import { type Colors, DASHES, FONT_FAMILY, NAME_RIM } from "./style.ts";

/** Margin around the drawing, in pixels. */
const EDGE = 24;

/** Bounding box of a scene, with a margin. */
export function extentOf({ dots, names, lines }: Scene) {
  let [left, top, right, bottom] = [0, 0, 0, 0];
  let isFirst = true;
  const add = (x1: number, y1: number, x2: number, y2: number) => {
    [left, top, right, bottom] = isFirst
      ? [x1, y1, x2, y2]
      : [Math.min(left, x1), Math.min(top, y1), Math.max(right, x2), Math.max(bottom, y2)];
    isFirst = false;
  };
  for (const { x, y, radius } of dots) add(x - radius, y - radius, x + radius, y + radius);
  for (const { x1, y1, x2, y2, via } of lines)
    for (const { x, y } of [{ x: x1, y: y1 }, ...via, { x: x2, y: y2 }]) add(x, y, x, y);
  for (const { x, y, width } of names) add(x - width / 2, y - NAME_HEIGHT / 2, x + width / 2, y + NAME_HEIGHT / 2);
  return {
    x: Math.floor(left - EDGE),
    y: Math.floor(top - EDGE),
    width: Math.ceil(right - left + 2 * EDGE),
    height: Math.ceil(bottom - top + 2 * EDGE),
  };
}

/** @param title subject and timestamp of the map */
export function svgOf(scene: Scene, colors: Colors, title: string): string {
  const { x, y, width, height } = extentOf(scene);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colors.ground}"/>`,
    ...scene.lines.map((line) => lineSvg(line, colors)),
    ...scene.dots.map((dot) => dotSvg(dot, colors)),
    `<g font-family="${escaped(FONT_FAMILY)}" font-size="${NAME_SIZE}" text-anchor="middle">`,
    ...scene.names.map((name) => nameSvg(name, colors)),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function lineSvg({ x1, y1, x2, y2, via, width, tone, stroke }: SceneLine, colors: Colors): string {
  const dash = DASHES[stroke].length === 0 ? "" : ` stroke-dasharray="${DASHES[stroke].join(" ")}"`;
  const style = `stroke="${colors[tone]}" stroke-width="${rounded(width)}"${dash}`;
  if (via.length === 0)
    return `<line x1="${rounded(x1)}" y1="${rounded(y1)}" x2="${rounded(x2)}" y2="${rounded(y2)}" ${style}/>`;
  const points = [{ x: x1, y: y1 }, ...via, { x: x2, y: y2 }].map(({ x, y }) => `${rounded(x)},${rounded(y)}`);
  return `<polyline points="${points.join(" ")}" fill="none" stroke-linejoin="round" ${style}/>`;
}

function dotSvg({ x, y, radius, tone, isHollow, isDashed, ring }: SceneDot, colors: Colors): string {
  const center = `cx="${rounded(x)}" cy="${rounded(y)}"`;
  const outline = isHollow
    ? ` stroke="${colors[tone]}" stroke-width="1.5"${isDashed ? ' stroke-dasharray="3 2"' : ""}`
    : "";
  const dot = `<circle ${center} r="${rounded(radius)}" fill="${colors[isHollow ? "ground" : tone]}"${outline}/>`;
  if (ring === null) return dot;
  return `${dot}<circle ${center} r="${rounded(radius + 3.5)}" fill="none" stroke="${colors[ring]}" stroke-width="2"/>`;
}

function nameSvg({ text, x, y, tone, isStrong }: SceneName, colors: Colors): string {
  const weight = isStrong ? ' font-weight="600"' : "";
  const rim = `paint-order="stroke" stroke="${colors.ground}" stroke-width="${NAME_RIM}" stroke-linejoin="round"`;
  return `<text x="${rounded(x)}" y="${rounded(y + NAME_SIZE * 0.35)}" fill="${colors[tone]}" ${rim}${weight}>${escaped(text)}</text>`;
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Device names can contain anything; XML cannot. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
