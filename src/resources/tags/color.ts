// Tag colors by name. Clients decide how each color looks.

import { wordList } from "../../base/word-list.ts";

export const COLORS = wordList(
  "Pink Rose Red Amber Orange Green Emerald Teal Cyan Blue Indigo Purple Fuchsia Violet Sky Gray Lime Yellow",
);

export type Color = (typeof COLORS)[number];
