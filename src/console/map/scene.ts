// What is drawn where at one size: lines, dots and names, in pixels from the origin of the map, so that panning only
// shifts it. Names that would lie on others are left out, those of what is chosen last. Plain functions.

import type { Diagram, DiagramLink, DiagramNode, Presence } from "./diagram.ts";
import { Room } from "./room.ts";

/** Each stands for a colour. */
export type Tone = "text" | "quiet" | "line" | "accent" | "added" | "removed" | "ground";

export interface SceneLine {
  readonly id: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
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
const NAME_LENGTH_MAX = 26;
const LANE_GAP = 5;
/** However many cables there are between two, they lie within this. */
const LANES_WIDTH_MAX = 28;
/** How far from its device a port is named: the first that is free. */
const PORT_AT = [34, 56, 80, 110] as const;

const SIGNS: Readonly<Record<Presence, string>> = { stayed: "", appeared: "+ ", vanished: "− " };

export function sceneOf(diagram: Diagram, options: SceneOptions): Scene {
  const { chosenId, way } = options;
  const lines = diagram.links.flatMap((link) => lineOf(link, options));
  const dots = diagram.nodes.map((node) => dotOf(node, diagram.linksById.get(node.id)?.length ?? 0, options));
  const room = new Room();
  for (const { x, y, radius } of dots)
    room.occupy({ x: x - radius, y: y - radius, width: radius * 2, height: radius * 2 });
  const names: SceneName[] = [];
  const weightOf = ({ id, presence }: DiagramNode) =>
    (id === chosenId ? 1e6 : 0) +
    (way.has(id) ? 1e5 : 0) +
    (options.found?.has(id) === true ? 1e4 : 0) +
    (presence === "stayed" ? 0 : 1e3) +
    (diagram.linksById.get(id)?.length ?? 0);
  const order = diagram.nodes
    .map((node, index) => ({ node, index, weight: weightOf(node) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  for (const { node, index } of order) {
    const dot = dots[index] as SceneDot;
    const name = nameOf(node, dot, options);
    const box = { x: name.x - name.width / 2, y: name.y - NAME_HEIGHT / 2, width: name.width, height: NAME_HEIGHT };
    // Whatever is chosen has its name, at any size.
    if (room.take(box) || node.id === chosenId) names.push(name);
    if (node.id === chosenId)
      for (const places of portNames(diagram.linksById.get(node.id) ?? [], lines, options)) {
        const free = places.find(({ x, y, width }) =>
          room.take({ x: x - width / 2, y: y - NAME_HEIGHT / 2, width, height: NAME_HEIGHT }),
        );
        if (free !== undefined) names.push(free);
      }
  }
  return { lines, dots, names };
}

/** At most so many characters, never half of one. */
export function shortened(text: string, most = NAME_LENGTH_MAX): string {
  const characters = [...text.replace(/\s+/gu, " ")];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

function lineOf({ id, ends, lane, lanes, presence, link }: DiagramLink, options: SceneOptions): SceneLine[] {
  const { scale, chosenId, way } = options;
  // A cable from a device to itself is in the table, and no line.
  if (ends[0].id === ends[1].id) return [];
  const [from, to] = ends;
  // The lanes of all cables between two lie the same way round, whichever end each names first.
  const sense = from.id < to.id ? 1 : -1;
  const [dx, dy] = [(to.x - from.x) * sense, (to.y - from.y) * sense];
  const length = Math.hypot(dx, dy) || 1;
  const aside = lane * Math.min(LANE_GAP, LANES_WIDTH_MAX / Math.max(1, lanes - 1)) * Math.min(1, scale * 1.5);
  const [ax, ay] = [(-dy / length) * aside, (dx / length) * aside];
  const isMarked = way.has(id) || from.id === chosenId || to.id === chosenId;
  const tone =
    presence === "stayed" ? (way.has(id) ? "accent" : stateTone(link.oper_status, isMarked)) : presenceTone(presence);
  return [
    {
      id,
      x1: from.x * scale + ax,
      y1: from.y * scale + ay,
      x2: to.x * scale + ax,
      y2: to.y * scale + ay,
      width: widthBySpeed(link.speed_bps) * Math.max(0.6, Math.min(1, scale * 2)) + (isMarked ? 0.75 : 0),
      tone,
      stroke: presence === "vanished" ? "broken" : link.certainty === "Interfaces" ? "whole" : "dotted",
    },
  ];
}

function stateTone(status: string | null, isMarked: boolean): Tone {
  if (status === "Down" || status === "LowerLayerDown") return "removed";
  return isMarked ? "text" : "line";
}

function presenceTone(presence: Presence): Tone {
  return presence === "appeared" ? "added" : "removed";
}

function widthBySpeed(bps: number | null): number {
  if (bps === null || bps < 1e9) return 1.1;
  return bps < 1e10 ? 1.6 : 2.4;
}

function dotOf({ id, x, y, presence, node }: DiagramNode, degree: number, options: SceneOptions): SceneDot {
  const { scale, chosenId, way, found } = options;
  const isAside = found !== null && !found.has(id);
  return {
    id,
    x: x * scale,
    y: y * scale,
    radius: (4 + Math.min(5, Math.log2(1 + degree))) * Math.min(1.2, Math.max(0.35, scale * 1.3)),
    tone: presence !== "stayed" ? presenceTone(presence) : way.has(id) ? "accent" : isAside ? "quiet" : "text",
    isHollow: presence === "vanished" || node.kind === "Unknown",
    isBroken: presence === "vanished",
    ring: id === chosenId ? "accent" : found?.has(id) === true ? "text" : null,
  };
}

function nameOf({ id, label, presence }: DiagramNode, dot: SceneDot, options: SceneOptions): SceneName {
  const isStrong = id === options.chosenId || options.way.has(id);
  const text = SIGNS[presence] + shortened(withoutDomain(label));
  const width = options.widthOf(text, isStrong) + 4;
  const below = dot.y + dot.radius + (dot.ring === null ? 2 : 5) + NAME_HEIGHT / 2;
  return { text, x: dot.x, y: below, width, tone: dot.tone, isStrong };
}

/** The domain is the same for most devices, and the tables have it. An address stays whole. */
function withoutDomain(label: string): string {
  return /^[\w-]*[a-z][\w-]*\.[\w.-]+$/iu.test(label) ? label.slice(0, label.indexOf(".")) : label;
}

/** What telephones and access points call their one port. */
const MAC_ADDRESS = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/iu;

/** Where each cable leaves what is chosen, and where it arrives: of each the places where its port can be named. */
function portNames(
  links: readonly DiagramLink[],
  lines: readonly SceneLine[],
  options: SceneOptions,
): (readonly SceneName[])[] {
  const lineById = new Map(lines.map((line) => [line.id, line]));
  return links.flatMap(({ id, link }) => {
    const line = lineById.get(id);
    if (line === undefined) return [];
    const { x1, y1, x2, y2 } = line;
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    return link.ends.flatMap(({ port }, end) => {
      if (port === null || port === "" || MAC_ADDRESS.test(port)) return [];
      const text = shortened(port);
      const width = options.widthOf(text, false) + 4;
      const places = PORT_AT.map((away): SceneName => {
        // Never beyond the middle, where it would seem to be the other end's.
        const share = Math.min(0.4, away / length);
        const along = end === 0 ? share : 1 - share;
        return { text, x: x1 + (x2 - x1) * along, y: y1 + (y2 - y1) * along, width, tone: "quiet", isStrong: false };
      });
      return [places];
    });
  });
}

/** The device at a point, in pixels from the origin of the map; the nearest of those within reach. */
export function dotAt({ dots }: Scene, x: number, y: number, reach: number): SceneDot | null {
  let nearest: SceneDot | null = null;
  let nearestAway = Number.POSITIVE_INFINITY;
  for (const dot of dots) {
    const away = Math.hypot(dot.x - x, dot.y - y) - dot.radius;
    if (away > reach || away >= nearestAway) continue;
    nearest = dot;
    nearestAway = away;
  }
  return nearest;
}
