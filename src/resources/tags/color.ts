// Tag colors by name. Must not define how a color looks: clients do.

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
