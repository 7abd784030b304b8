// Shortest path between two devices over the links shown. Pure.

import type { Diagram, DiagramLink, DiagramNode } from "./diagram.ts";

export interface Step {
  /** Link that leads here; null at the start. */
  readonly link: DiagramLink | null;
  readonly node: DiagramNode;
}

/** Path with the fewest links, all of them present. @returns null if there is none */
export function shortestPath({ nodeById, linksById }: Diagram, fromId: string, toId: string): readonly Step[] | null {
  const start = nodeById.get(fromId);
  if (start === undefined || !nodeById.has(toId)) return null;
  const reachedBy = new Map<string, Step & { readonly previous: string | null }>([
    [fromId, { link: null, node: start, previous: null }],
  ]);
  let frontier = [fromId];
  while (frontier.length > 0 && !reachedBy.has(toId)) {
    const next: string[] = [];
    for (const id of frontier)
      for (const link of linksById.get(id) ?? []) {
        if (link.presence === "vanished" || link.presence === "later") continue;
        const far = farEnd(link, id);
        if (reachedBy.has(far.id)) continue;
        reachedBy.set(far.id, { link, node: far, previous: id });
        next.push(far.id);
      }
    frontier = next;
  }
  const steps: Step[] = [];
  for (let id: string | null = toId; id !== null; ) {
    const step = reachedBy.get(id);
    if (step === undefined) return null;
    steps.unshift({ link: step.link, node: step.node });
    id = step.previous;
  }
  return steps;
}

/** Device at the other end of a link. */
export function farEnd({ ends: [start, end] }: DiagramLink, id: string): DiagramNode {
  return start.id === id ? end : start;
}
