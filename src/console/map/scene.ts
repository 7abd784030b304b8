// Map scene at a given zoom level: lines, dots and labels in pixels from the map origin. Pure.

import { BEND_AFTER, orderedEnds } from "./bends.ts";
import { type Diagram, type DiagramLink, type DiagramNode, degreeOf, type Presence } from "./diagram.ts";
import { namesOf } from "./scene-names.ts";
import type { Scene, SceneDot, SceneLine, SceneOptions, Tone } from "./scene-parts.ts";

const LANE_GAP = 5;
/** Total width of the lanes between two devices, for any number of links. */
const LANES_WIDTH_MAX = 28;
/** Longer lines, in map units, are drawn thin: they pass many unrelated devices. */
const LONG_LINE = 1_200;

/** Drawing order: highlights and changes are above the rest. */
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

function lineOf(diagramLink: DiagramLink, bend: number, options: SceneOptions): SceneLine[] {
  const { id, ends, lane, lanes, presence, status, link } = diagramLink;
  const { scale, selectedId, path } = options;
  // A link from a device to itself appears only in the table.
  if (ends[0].id === ends[1].id) return [];
  // Lanes between two devices keep their order, regardless of the order of the ends.
  const [first, last] = orderedEnds(ends);
  const [dx, dy] = [last.x - first.x, last.y - first.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const laneOffset = lane * Math.min(LANE_GAP, LANES_WIDTH_MAX / Math.max(1, lanes - 1)) * Math.min(1, scale * 1.5);
  const pointAt = (node: DiagramNode, along: number, offset: number) => ({
    x: (node.x + ux * along) * scale - uy * offset,
    y: (node.y + uy * along) * scale + ux * offset,
  });
  const [startPoint, endPoint] = [pointAt(ends[0], 0, laneOffset), pointAt(ends[1], 0, laneOffset)];
  const bendAt = Math.min(BEND_AFTER, length / 2);
  const offset = bend * scale + laneOffset;
  const corners = bend === 0 ? [] : [pointAt(first, bendAt, offset), pointAt(last, -bendAt, offset)];
  const isHighlighted = path.has(id) || ends.some((end) => end.id === selectedId);
  const tone =
    presence === "stayed" ? (path.has(id) ? "accent" : stateTone(status, isHighlighted)) : presenceTone(presence);
  const stroke = presence === "vanished" ? "dashed" : link.certainty === "Interfaces" ? "solid" : "dotted";
  return [
    {
      id,
      x1: startPoint.x,
      y1: startPoint.y,
      x2: endPoint.x,
      y2: endPoint.y,
      via: ends[0] === first ? corners : corners.toReversed(),
      width: isHighlighted
        ? widthBySpeed(link.speed_bps) + (stroke === "dotted" ? 0 : 0.75)
        : widthBySpeed(link.speed_bps) * Math.max(0.6, Math.min(1, scale * 2)) * (length > LONG_LINE ? 0.5 : 1),
      tone,
      stroke,
    },
  ];
}

function stateTone(status: string | null, isHighlighted: boolean): Tone {
  if (status === "Down" || status === "LowerLayerDown") return "removed";
  return isHighlighted ? "text" : "line";
}

function presenceTone(presence: Presence): Tone {
  return presence === "appeared" ? "added" : "removed";
}

function widthBySpeed(bps: number | null): number {
  if (bps === null || bps < 1e9) return 1.1;
  return bps < 1e10 ? 1.6 : 2.4;
}

function dotOf({ id, x, y, presence, node }: DiagramNode, degree: number, options: SceneOptions): SceneDot {
  const { scale, selectedId, path, found } = options;
  const isDimmed = found !== null && !found.has(id);
  return {
    id,
    x: x * scale,
    y: y * scale,
    radius: (4 + Math.min(5, Math.log2(1 + degree))) * Math.min(1.2, Math.max(0.35, scale * 1.3)),
    tone: presence !== "stayed" ? presenceTone(presence) : path.has(id) ? "accent" : isDimmed ? "quiet" : "text",
    isHollow: presence === "vanished" || node.kind === "Unknown",
    isDashed: presence === "vanished",
    ring: id === selectedId ? "accent" : found?.has(id) === true ? "text" : null,
  };
}

/** Nearest device within reach of a point, in pixels from the map origin. */
export function dotAt({ dots }: Scene, x: number, y: number, reach: number): SceneDot | null {
  let nearest: SceneDot | null = null;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const dot of dots) {
    const distance = Math.hypot(dot.x - x, dot.y - y) - dot.radius;
    if (distance > reach || distance >= nearestDistance) continue;
    nearest = dot;
    nearestDistance = distance;
  }
  return nearest;
}
