// Scene of the map at one scale: lines, dots and labels in pixels from the map origin, so that panning only shifts it.
// Overlapping labels are omitted, those of the selected device last. Pure.

import { BEND_AFTER, inOrder } from "./bends.ts";
import { type Diagram, type DiagramLink, type DiagramNode, degreeOf, type Presence } from "./diagram.ts";
import { namesOf } from "./scene-names.ts";
import type { Scene, SceneDot, SceneLine, SceneOptions, Tone } from "./scene-parts.ts";

const LANE_GAP = 5;
/** Total width of the lanes between two devices, for any number of cables. */
const LANES_WIDTH_MAX = 28;
/** Longer lines, in map units, are drawn thin: they pass many unrelated devices. */
const FAR = 1_200;

/** Highlights and changes are above the rest. */
const LAYERS: Readonly<Record<Tone, number>> = {
  ground: 0,
  quiet: 0,
  line: 0,
  removed: 1,
  added: 1,
  text: 2,
  accent: 3,
};

export function sceneOf(diagram: Diagram, options: SceneOptions): Scene {
  const nodes = diagram.nodes.filter(({ presence }) => presence !== "later");
  const lines = diagram.links
    .flatMap((link) =>
      link.presence === "later" ? [] : lineOf(link, diagram.bends.get(link.link.group) ?? 0, options),
    )
    .sort((a, b) => LAYERS[a.tone] - LAYERS[b.tone]);
  const dots = nodes.map((node) => dotOf(node, degreeOf(diagram, node.id), options));
  return { lines, dots, names: namesOf(diagram, nodes, { lines, dots }, options) };
}

function lineOf(cable: DiagramLink, bend: number, options: SceneOptions): SceneLine[] {
  const { id, ends, lane, lanes, presence, status, link } = cable;
  const { scale, chosenId, way } = options;
  // A cable from a device to itself appears only in the table.
  if (ends[0].id === ends[1].id) return [];
  // Lanes between two devices keep their order, regardless of the order of the ends.
  const [first, last] = inOrder(ends);
  const [dx, dy] = [last.x - first.x, last.y - first.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const aside = lane * Math.min(LANE_GAP, LANES_WIDTH_MAX / Math.max(1, lanes - 1)) * Math.min(1, scale * 1.5);
  const at = (node: DiagramNode, along: number, beside: number) => ({
    x: (node.x + ux * along) * scale - uy * beside,
    y: (node.y + uy * along) * scale + ux * beside,
  });
  const [one, other] = [at(ends[0], 0, aside), at(ends[1], 0, aside)];
  const after = Math.min(BEND_AFTER, length / 2);
  const beside = bend * scale + aside;
  const turns = bend === 0 ? [] : [at(first, after, beside), at(last, -after, beside)];
  const isMarked = way.has(id) || ends.some((end) => end.id === chosenId);
  const tone = presence === "stayed" ? (way.has(id) ? "accent" : stateTone(status, isMarked)) : presenceTone(presence);
  const stroke = presence === "vanished" ? "broken" : link.certainty === "Interfaces" ? "whole" : "dotted";
  return [
    {
      id,
      x1: one.x,
      y1: one.y,
      x2: other.x,
      y2: other.y,
      via: ends[0] === first ? turns : turns.toReversed(),
      width: isMarked
        ? widthBySpeed(link.speed_bps) + (stroke === "dotted" ? 0 : 0.75)
        : widthBySpeed(link.speed_bps) * Math.max(0.6, Math.min(1, scale * 2)) * (length > FAR ? 0.5 : 1),
      tone,
      stroke,
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

/** Nearest device within reach of a point, in pixels from the map origin. */
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
