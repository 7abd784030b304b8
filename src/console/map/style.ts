// How what is drawn looks, on a canvas and in a file.

import { NAME_SIZE, type SceneLine, type Tone } from "./scene-parts.ts";

export type Colours = Readonly<Record<Tone, string>>;

export const FONT_FAMILY = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

export function fontOf(isStrong: boolean): string {
  return `${isStrong ? 600 : 400} ${NAME_SIZE}px ${FONT_FAMILY}`;
}

/** Lengths of the strokes of a line. */
export const DASHES: Readonly<Record<SceneLine["stroke"], readonly number[]>> = {
  whole: [],
  broken: [7, 5],
  dotted: [2, 3],
};

/** Around a name, half of it outside its letters. */
export const NAME_RIM = 4;
