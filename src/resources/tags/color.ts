// The colors that a tag can have, by name. How a color looks is the client's affair.

export const COLORS = [
  "Pink",
  "Rose",
  "Red",
  "Amber",
  "Orange",
  "Green",
  "Emerald",
  "Teal",
  "Cyan",
  "Blue",
  "Indigo",
  "Purple",
  "Fuchsia",
  "Violet",
  "Sky",
  "Gray",
  "Lime",
  "Yellow",
] as const;

export type Color = (typeof COLORS)[number];
