// Vertical stretch of the map: rows are spaced farther apart if the picture is taller than the map. Pure.

import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";
import { boundsOf, EDGE, FIT_MAX, type Point, type Size } from "./viewport.ts";

/** Steeper lines no longer show which devices they connect. */
const STRETCH_MAX = 3;
/** The factor changes in steps, so that one device more or fewer rarely changes it. */
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
  const limit = Math.min(STRETCH_MAX, free, ROW_MAX / (ROW * scale));
  return Math.max(1, Math.floor(limit / STRETCH_STEP) * STRETCH_STEP);
}

/** Same devices and links, stretched vertically. */
export function stretched(diagram: Diagram, ratio: number): Diagram {
  if (ratio === 1) return diagram;
  const nodes = diagram.nodes.map((node) => ({ ...node, y: node.y * ratio }));
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const links = diagram.links.map((link) => {
    const [start, end] = link.ends.map(({ id }) => nodeById.get(id)) as [DiagramNode, DiagramNode];
    return { ...link, ends: [start, end] as const };
  });
  const linkById = new Map(links.map((link) => [link.id, link]));
  const linksById = new Map(
    [...diagram.linksById].map(([id, ownLinks]) => [id, ownLinks.map((link) => linkById.get(link.id) as DiagramLink)]),
  );
  return { ...diagram, nodes, links, nodeById, linkById, linksById };
}

/** Keeps the stretch factor of a picture across timestamps, so that nothing jumps. */
export class StretchState {
  private ratio: number | null = null;
  private last: { readonly source: Diagram; readonly ratio: number; readonly diagram: Diagram } | null = null;

  /** Recomputes the factor when next needed, for another map or a resized picture. */
  forget(): void {
    this.ratio = null;
  }

  /** @param size of the picture; zero if not yet known */
  factor(source: Diagram | null, size: Size): number {
    if (source !== null && source.nodes.length > 0 && size.width > 0) this.ratio ??= stretchOf(source.nodes, size);
    return this.ratio ?? 1;
  }

  stretchedDiagram(source: Diagram, size: Size): Diagram {
    const ratio = this.factor(source, size);
    if (this.last?.source !== source || this.last.ratio !== ratio)
      this.last = { source, ratio, diagram: stretched(source, ratio) };
    return this.last.diagram;
  }
}
