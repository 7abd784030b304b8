// Vertical stretch of the map: rows are spaced farther apart if the picture is taller than the map. Pure.

import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { boundsOf, EDGE, FIT_MAX, type Point, type Size } from "./viewport.ts";

/** Steeper lines no longer show which devices they connect. */
const STRETCH_MAX = 3;
/** In steps, so that one device more or fewer rarely changes the factor. */
const STRETCH_STEP = 0.25;
/** Row distance of the layout, in map units. */
const ROW = 120;
/** Largest row distance when the whole map is shown, in pixels. */
const ROW_MAX = 240;

/** Stretch factor; 1 if the whole map already fills the height. */
export function stretchOf(points: readonly Point[], { width, height }: Size): number {
  if (points.length === 0) return 1;
  const { left, right, top, bottom } = boundsOf(points);
  if (bottom === top) return 1;
  const scale = Math.min(FIT_MAX, Math.max(1, width - 2 * EDGE.x) / Math.max(1, right - left));
  const free = Math.max(1, height - 2 * EDGE.y) / ((bottom - top) * scale);
  const most = Math.min(STRETCH_MAX, free, ROW_MAX / (ROW * scale));
  return Math.max(1, Math.floor(most / STRETCH_STEP) * STRETCH_STEP);
}

/** Same devices and cables, stretched vertically. */
export function stretched(diagram: Diagram, by: number): Diagram {
  if (by === 1) return diagram;
  const nodes = diagram.nodes.map((node) => ({ ...node, y: node.y * by }));
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const links = diagram.links.map((link) => {
    const [one, other] = link.ends.map(({ id }) => nodeById.get(id)) as [DiagramNode, DiagramNode];
    return { ...link, ends: [one, other] as const };
  });
  const linkById = new Map(links.map((link) => [link.id, link]));
  const linksById = new Map(
    [...diagram.linksById].map(([id, own]) => [id, own.map((link) => linkById.get(link.id) as DiagramLink)]),
  );
  return { ...diagram, nodes, links, nodeById, linkById, linksById };
}

/** Keeps the stretch factor of a picture across timestamps, so that nothing jumps. */
export class Stretching {
  private by: number | null = null;
  private last: { readonly given: Diagram; readonly by: number; readonly diagram: Diagram } | null = null;

  /** For another map or a resized picture. */
  forget(): void {
    this.by = null;
  }

  /** @param size of the picture; zero if not yet known */
  factor(given: Diagram | null, size: Size): number {
    if (given !== null && given.nodes.length > 0 && size.width > 0) this.by ??= stretchOf(given.nodes, size);
    return this.by ?? 1;
  }

  drawn(given: Diagram, size: Size): Diagram {
    const by = this.factor(given, size);
    if (this.last?.given !== given || this.last.by !== by) this.last = { given, by, diagram: stretched(given, by) };
    return this.last.diagram;
  }
}
