// Map download as SVG or PNG.

import { saveFile } from "../components/save-file.ts";
import { paint } from "./paint.ts";
import type { Control } from "./picture.ts";
import { extentOf, svgOf } from "./svg.ts";

/** Largest canvas side that every browser supports. */
const PIXELS_MAX = 8_000;
/** Scale for readable names; larger drawings are scaled down. */
const SCALE = 1;

/** @param title subject and timestamp of the map */
export function saveSvg(control: Control, title: string, fileName: string): void {
  const { scene, colors } = control.sceneAt(SCALE);
  saveFile(new Blob([svgOf(scene, colors, title)], { type: "image/svg+xml" }), `${fileName}.svg`);
}

export async function savePng(control: Control, fileName: string): Promise<void> {
  const extentAtScale = extentOf(control.sceneAt(SCALE).scene);
  const scale = SCALE * Math.min(1, PIXELS_MAX / Math.max(extentAtScale.width, extentAtScale.height));
  const { scene, colors } = control.sceneAt(scale);
  const extent = extentOf(scene);
  const ratio = Math.min(2, PIXELS_MAX / Math.max(extent.width, extent.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(extent.width * ratio);
  canvas.height = Math.round(extent.height * ratio);
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) return;
  paint(context, scene, { view: { x: -extent.x, y: -extent.y, scale }, zoomRatio: 1, size: extent, ratio, colors });
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob !== null) saveFile(blob, `${fileName}.png`);
}
