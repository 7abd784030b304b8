// Visual style of the map, on the canvas and in files.

import { NAME_SIZE, type SceneLine, type Tone } from "./scene-parts.ts";

export type Colors = Readonly<Record<Tone, string>>;

export const FONT_FAMILY = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

export function fontOf(isStrong: boolean): string {
  return `${isStrong ? 600 : 400} ${NAME_SIZE}px ${FONT_FAMILY}`;
}

/** Dash lengths by stroke. */
export const DASHES: Readonly<Record<SceneLine["stroke"], readonly number[]>> = {
  solid: [],
  dashed: [7, 5],
  dotted: [2, 3],
};

/** Outline width of a label; half of it is outside the letters. */
export const NAME_RIM = 4;
