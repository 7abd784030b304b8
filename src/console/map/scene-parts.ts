// What the picture of the map is made of, once it is known what is drawn where.

/** Each stands for a colour. */
export type Tone = "text" | "quiet" | "line" | "accent" | "added" | "removed" | "ground";

export interface SceneLine {
  readonly id: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** Where it turns, on its way around a device. */
  readonly via: readonly { readonly x: number; readonly y: number }[];
  readonly width: number;
  readonly tone: Tone;
  /** `broken`: vanished. `dotted`: not certain at which interfaces it ends. */
  readonly stroke: "whole" | "broken" | "dotted";
}

export interface SceneDot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly tone: Tone;
  /** Only its edge: it has vanished, or is in no inventory. */
  readonly isHollow: boolean;
  readonly isBroken: boolean;
  /** A ring around it: chosen, or found. */
  readonly ring: Tone | null;
}

export interface SceneName {
  readonly text: string;
  /** Its middle. */
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
  /** On the way between two: ids of devices and of links. */
  readonly way: ReadonlySet<string>;
  /** Null where nothing is sought. */
  readonly found: ReadonlySet<string> | null;
  /** In pixels. */
  readonly widthOf: (text: string, isStrong: boolean) => number;
}

export const NAME_SIZE = 12;
export const NAME_HEIGHT = 15;
