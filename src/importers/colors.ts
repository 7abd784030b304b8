// Most similar tag color for a color of another product.

import type { Color } from "../resources/tags/color.ts";

/** Usual rendering in clients: red, green, blue. */
const RGB_VALUES: Readonly<Record<Color, number>> = {
  Pink: 0xec4899,
  Rose: 0xf43f5e,
  Red: 0xef4444,
  Amber: 0xf59e0b,
  Orange: 0xf97316,
  Green: 0x22c55e,
  Emerald: 0x10b981,
  Teal: 0x14b8a6,
  Cyan: 0x06b6d4,
  Blue: 0x3b82f6,
  Indigo: 0x6366f1,
  Purple: 0xa855f7,
  Fuchsia: 0xd946ef,
  Violet: 0x8b5cf6,
  Sky: 0x0ea5e9,
  Gray: 0x6b7280,
  Lime: 0x84cc16,
  Yellow: 0xeab308,
};

/** @param text six hex digits, with or without `#`; anything else is gray */
export function nearestColor(text: string | null): Color {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text ?? "")?.[1];
  if (digits === undefined) return "Gray";
  const wanted = Number.parseInt(digits, 16);
  const names = Object.keys(RGB_VALUES) as Color[];
  return names.reduce((best, name) =>
    distance(RGB_VALUES[name], wanted) < distance(RGB_VALUES[best], wanted) ? name : best,
  );
}

function distance(left: number, right: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((left >> shift) & 255) - ((right >> shift) & 255)) ** 2, 0);
}
