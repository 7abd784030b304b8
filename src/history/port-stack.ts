// Interface stack of a device: aggregates with their members, and ports with their subinterfaces. A station is
// attributed to the lowest layer, whichever layer the device reports it on. Pure.

import type { IfEntryRecord } from "../resources/if-entries/if-entry.ts";

export type StackedPort = Pick<IfEntryRecord, "id" | "lag_id" | "parent_id">;

/** An interface at the bottom of the stack: a port, or an aggregate of ports. */
export class PortStack {
  private readonly stacked: ReadonlyMap<string, StackedPort>;
  private readonly parts = new Map<string, string[]>();

  /** @param stacked the members and units among the interfaces of one or more devices */
  constructor(stacked: Iterable<StackedPort>) {
    this.stacked = new Map([...stacked].map((port) => [port.id, port]));
    for (const id of this.stacked.keys()) {
      const place = this.placeOf(id);
      if (place !== id) this.parts.set(place, [...(this.parts.get(place) ?? []), id]);
    }
  }

  /**
   * The aggregate of a member, the port of a unit, or the interface itself. Manual entries may form a cycle: none then.
   */
  placeOf(id: string): string {
    const passed = new Set<string>();
    for (let place = id; ; ) {
      if (passed.has(place)) return id;
      passed.add(place);
      const port = this.stacked.get(place);
      const next = port?.parent_id ?? port?.lag_id;
      if (next === undefined) return place;
      place = next;
    }
  }

  /** Members and units of a place, and the units of its members; empty for a single port. */
  partsOf(place: string): readonly string[] {
    return this.parts.get(place) ?? [];
  }

  /** Members of an aggregate. */
  membersOf(place: string): string[] {
    return this.partsOf(place).filter((id) => this.stacked.get(id)?.lag_id === place);
  }

  isUnit(id: string): boolean {
    return this.stacked.get(id)?.parent_id !== undefined;
  }
}
