// Elements of the drawn map, with final positions.

import type { Point } from "./viewport.ts";

/** Color role. */
export type Tone = "text" | "quiet" | "line" | "accent" | "added" | "removed" | "ground";

export interface SceneLine extends Readonly<Record<"x1" | "y1" | "x2" | "y2", number>> {
  readonly id: string;
  /** Corners of a detour around a device. */
  readonly via: readonly Point[];
  readonly width: number;
  readonly tone: Tone;
  /** `dashed`: vanished. `dotted`: the interfaces at its ends are uncertain. */
  readonly stroke: "solid" | "dashed" | "dotted";
}

export interface SceneDot extends Point {
  readonly id: string;
  readonly radius: number;
  readonly tone: Tone;
  /** Outline only: vanished, or not in the inventory. */
  readonly isHollow: boolean;
  readonly isDashed: boolean;
  /** Ring for a selected or matching device. */
  readonly ring: Tone | null;
}

/** Label, positioned by its center. */
export interface SceneName extends Point {
  readonly text: string;
  readonly width: number;
  readonly tone: Tone;
  readonly isStrong: boolean;
}

export interface Scene {
  readonly lines: readonly SceneLine[];
  readonly dots: readonly SceneDot[];
  readonly names: readonly SceneName[];
}

export interface SceneOptions {
  readonly scale: number;
  readonly selectedId: string | null;
  /** Ids of devices and links on the selected path. */
  readonly path: ReadonlySet<string>;
  /** Null without a search. */
  readonly found: ReadonlySet<string> | null;
  /** Width of a string in pixels. */
  readonly widthOf: (text: string, isStrong: boolean) => number;
}

export const NAME_SIZE = 12;
export const NAME_HEIGHT = 15;
