// Elements of the drawn map, with final positions.

/** Color role. */
export type Tone = "text" | "quiet" | "line" | "accent" | "added" | "removed" | "ground";

export interface SceneLine {
  readonly id: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** Corners of a detour around a device. */
  readonly via: readonly { readonly x: number; readonly y: number }[];
  readonly width: number;
  readonly tone: Tone;
  /** `broken`: vanished. `dotted`: the interfaces at its ends are uncertain. */
  readonly stroke: "whole" | "broken" | "dotted";
}

export interface SceneDot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly tone: Tone;
  /** Outline only: vanished, or not in the inventory. */
  readonly isHollow: boolean;
  readonly isBroken: boolean;
  /** Ring for a selected or matching device. */
  readonly ring: Tone | null;
}

export interface SceneName {
  readonly text: string;
  /** Center. */
  readonly x: number;
  readonly y: number;
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
  readonly chosenId: string | null;
  /** Ids of devices and links on the selected path. */
  readonly way: ReadonlySet<string>;
  /** Null without a search. */
  readonly found: ReadonlySet<string> | null;
  /** In pixels. */
  readonly widthOf: (text: string, isStrong: boolean) => number;
}

export const NAME_SIZE = 12;
export const NAME_HEIGHT = 15;
