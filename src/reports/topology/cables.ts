// Cables merged from the additions of their end interfaces, and the resulting links. Pure.

import { compareCodePoints } from "../../base/text.ts";
import type { ShownPort } from "../../discovery/topology/facts.ts";
import type { LinkEvidence, MapEnd, MapLink, MapNode } from "./map.ts";

/** A cable as reported by one interface. */
export interface Addition {
  readonly near: ShownPort;
  readonly far: ShownPort | null;
  readonly farNode: string;
  /** The far node, if it is not a host. */
  readonly stranger: MapNode | null;
  /** Announced name of the far interface. */
  readonly announcedPort: string | null;
  readonly certainty: MapLink["certainty"];
  /** Whether nothing contradicts the interfaces of the far host as far end. */
  readonly isOpen: boolean;
  readonly isShared: boolean;
  readonly evidence: readonly LinkEvidence[];
}

export interface MapCable extends Omit<Addition, "stranger"> {
  readonly key: string;
  far: ShownPort | null;
  isShared: boolean;
  readonly evidence: LinkEvidence[];
}

/** By key. @param additions in interface order */
export function merged(additions: Iterable<Addition>): Map<string, MapCable> {
  const cables = new Map<string, MapCable>();
  for (const { near, far, farNode, announcedPort, certainty, isOpen, isShared, evidence } of additions) {
    const ids = far === null ? [near.id, farNode] : [near.id, far.id].sort(compareCodePoints);
    const key = ids.join("--");
    const known = cables.get(key);
    if (known === undefined) {
      const cable = { key, near, far, farNode, announcedPort, certainty, isOpen, isShared, evidence: [...evidence] };
      cables.set(key, cable);
    } else {
      known.isShared ||= isShared;
      known.evidence.push(...evidence);
    }
  }
  return cables;
}

/**
 * Joins the two halves of a cable: two hosts that announce each other without naming the interface, if only one cable
 * is possible.
 */
export function joinHalves(cables: Map<string, MapCable>): void {
  const open = Map.groupBy(
    [...cables.values()].filter(({ certainty, near, farNode }) => certainty === "Hosts" && near.host_id !== farNode),
    ({ near, farNode }) => `${near.host_id} ${farNode}`,
  );
  for (const [pair, [one, ...others]] of open) {
    const [other, ...more] = open.get(pair.split(" ").reverse().join(" ")) ?? [];
    if (
      one === undefined ||
      other === undefined ||
      others.length > 0 ||
      more.length > 0 ||
      !one.isOpen ||
      !other.isOpen
    )
      continue;
    if (one.far !== null || !cables.has(one.key) || compareCodePoints(one.key, other.key) > 0) continue;
    one.far = other.near;
    one.isShared ||= other.isShared;
    one.evidence.push(...other.evidence);
    cables.delete(other.key);
  }
}

/** @param compare orders two nodes by name */
export function endsOf(
  { near, far, farNode, announcedPort }: MapCable,
  compare: (one: MapEnd, other: MapEnd) => number,
): readonly [MapEnd, MapEnd] {
  const one = portEnd(near);
  const other: MapEnd =
    far === null
      ? { node_id: farNode, if_entry: null, port: announcedPort, speed_bps: null, oper_status: null }
      : portEnd(far);
  const order = compare(one, other) || (one.if_entry?.if_index ?? 0) - (other.if_entry?.if_index ?? 0);
  return order <= 0 ? [one, other] : [other, one];
}

function portEnd({ id, host_id, if_name, if_descr, if_index, speed_bps, oper_status, stale_since }: ShownPort): MapEnd {
  const name = [if_name, if_descr].find((each) => each !== null && each !== "") ?? String(if_index);
  return {
    node_id: host_id,
    if_entry: { id, name, if_index },
    port: name,
    speed_bps,
    oper_status,
    ...(stale_since === null ? {} : { stale_since }),
  };
}

export function linkOf(cable: MapCable, ends: readonly [MapEnd, MapEnd], parallel: number): MapLink {
  const speeds = ends.map(({ speed_bps }) => speed_bps).filter((speed) => speed !== null);
  const statuses = ends.map(({ oper_status }) => oper_status).filter((status) => status !== null);
  const { key, evidence, certainty, isShared } = cable;
  return {
    id: key,
    protocol: evidence.some(({ protocol }) => protocol === "Lldp") ? "Lldp" : evidence.length > 0 ? "Cdp" : "Entered",
    certainty,
    is_shared: isShared,
    ends,
    speed_bps: speeds.length === 0 ? null : Math.min(...speeds),
    oper_status: statuses.find((status) => status !== "Up") ?? statuses[0] ?? null,
    group: groupOf(ends),
    parallel,
    evidence,
  };
}

export function groupOf([one, other]: readonly [MapEnd, MapEnd]): string {
  return `${one.node_id}--${other.node_id}`;
}
