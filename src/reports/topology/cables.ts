// Cables merged from the additions of their end interfaces, and the resulting links. Pure.

import { compareCodePoints } from "../../base/text.ts";
import type { MapPort } from "../../discovery/topology/facts.ts";
import type { LinkEvidence, MapEnd, MapLink, MapNode } from "./map.ts";

/** A cable as reported by one interface. */
export interface Addition {
  readonly near: MapPort;
  /** The aggregate or parent of the near interface; null for a port of its own. */
  readonly nearPlace: MapPort | null;
  readonly far: MapPort | null;
  readonly farPlace: MapPort | null;
  readonly farNode: string;
  /** The far node, if it is not a host. */
  readonly unknownDevice: MapNode | null;
  /** Announced name of the far interface. */
  readonly announcedPort: string | null;
  readonly certainty: MapLink["certainty"];
  /** Whether the far host has no interface that contradicts this cable. */
  readonly isOpen: boolean;
  readonly isShared: boolean;
  readonly evidence: readonly LinkEvidence[];
}

export interface MapCable extends Omit<Addition, "unknownDevice"> {
  readonly key: string;
  far: MapPort | null;
  farPlace: MapPort | null;
  isShared: boolean;
  readonly evidence: LinkEvidence[];
  /** Cables of an aggregate (bundles.ts); empty for a single cable. */
  readonly members: readonly MapCable[];
}

/** By key. @param additions in interface order */
export function mergeAdditions(additions: Iterable<Addition>): Map<string, MapCable> {
  const cables = new Map<string, MapCable>();
  for (const { unknownDevice: _device, ...addition } of additions) {
    const { near, far, farNode, isShared, evidence } = addition;
    const ids = far === null ? [near.id, farNode] : [near.id, far.id].sort(compareCodePoints);
    const key = ids.join("--");
    const known = cables.get(key);
    if (known === undefined) cables.set(key, { key, ...addition, evidence: [...evidence], members: [] });
    else {
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
  const unjoined = Map.groupBy(
    [...cables.values()].filter(({ certainty, near, farNode }) => certainty === "Hosts" && near.host_id !== farNode),
    ({ near, farNode }) => `${near.host_id} ${farNode}`,
  );
  for (const [pair, [left, ...others]] of unjoined) {
    const [right, ...more] = unjoined.get(pair.split(" ").reverse().join(" ")) ?? [];
    if (
      left === undefined ||
      right === undefined ||
      others.length > 0 ||
      more.length > 0 ||
      !left.isOpen ||
      !right.isOpen
    )
      continue;
    if (left.far !== null || !cables.has(left.key) || compareCodePoints(left.key, right.key) > 0) continue;
    left.far = right.near;
    left.farPlace = right.nearPlace;
    left.isShared ||= right.isShared;
    left.evidence.push(...right.evidence);
    cables.delete(right.key);
  }
}

/** @param compare orders two nodes by name */
export function endsOf(
  { near, far, farNode, announcedPort }: MapCable,
  compare: (left: MapEnd, right: MapEnd) => number,
): readonly [MapEnd, MapEnd] {
  const left = portEnd(near);
  const right: MapEnd =
    far === null
      ? { node_id: farNode, if_entry: null, port: announcedPort, speed_bps: null, oper_status: null }
      : portEnd(far);
  const order = compare(left, right) || (left.if_entry?.if_index ?? 0) - (right.if_entry?.if_index ?? 0);
  return order <= 0 ? [left, right] : [right, left];
}

function portEnd({ id, host_id, if_name, if_descr, if_index, speed_bps, oper_status, stale_since }: MapPort): MapEnd {
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
  const { key, evidence, certainty, isShared, members } = cable;
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
    members: members.map((member) => ({ ends: sameWay(member, ends) })),
    evidence,
  };
}

/** The ends of a cable, in the same order as the ends of its link. */
function sameWay(cable: MapCable, [first]: readonly [MapEnd, MapEnd]): readonly [MapEnd, MapEnd] {
  return endsOf(cable, (left) => (left.node_id === first.node_id ? -1 : 1));
}

export function groupOf([left, right]: readonly [MapEnd, MapEnd]): string {
  return `${left.node_id}--${right.node_id}`;
}
