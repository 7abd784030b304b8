// Shortest path between two devices over the cables shown. Pure.

import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";

export interface Step {
  /** Cable that leads here; null at the start. */
  readonly over: DiagramLink | null;
  readonly node: DiagramNode;
}

/** Path with the fewest cables, all of them present. @returns null if there is none */
export function wayBetween({ nodeById, linksById }: Diagram, fromId: string, toId: string): readonly Step[] | null {
  const start = nodeById.get(fromId);
  if (start === undefined || !nodeById.has(toId)) return null;
  const reachedBy = new Map<string, Step & { readonly before: string | null }>([
    [fromId, { over: null, node: start, before: null }],
  ]);
  let edge = [fromId];
  while (edge.length > 0 && !reachedBy.has(toId)) {
    const next: string[] = [];
    for (const id of edge)
      for (const link of linksById.get(id) ?? []) {
        if (link.presence === "vanished" || link.presence === "later") continue;
        const far = farEnd(link, id);
        if (reachedBy.has(far.id)) continue;
        reachedBy.set(far.id, { over: link, node: far, before: id });
        next.push(far.id);
      }
    edge = next;
  }
  const steps: Step[] = [];
  for (let id: string | null = toId; id !== null; ) {
    const step = reachedBy.get(id);
    if (step === undefined) return null;
    steps.unshift({ over: step.over, node: step.node });
    id = step.before;
  }
  return steps;
}

/** Device at the other end. */
export function farEnd({ ends: [one, other] }: DiagramLink, id: string): DiagramNode {
  return one.id === id ? other : one;
}
