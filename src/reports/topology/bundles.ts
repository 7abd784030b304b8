// Links of a map, from its cables: all cables between two aggregates form one link between the aggregates, and a cable
// at a subinterface belongs to its port. Pure.

import { compareCodePoints } from "../../base/text.ts";
import type { MapPort } from "../../discovery/topology/facts.ts";
import type { MapCable } from "./cables.ts";

/**
 * A cable with the aggregates or parents of its ends. All cables between the same two nodes have the same direction.
 */
interface Carried {
  readonly cable: MapCable;
  left: MapPort | null;
  right: MapPort | null;
}

/** @param cables all between two nodes, or more */
export function bundleCables(cables: readonly MapCable[]): readonly MapCable[] {
  if (cables.every(({ nearPlace, farPlace }) => nearPlace === null && farPlace === null)) return cables;
  const pairs = Map.groupBy(cables, ({ near, farNode }) => [near.host_id, farNode].sort(compareCodePoints).join(" "));
  return [...pairs.values()].flatMap(bundlesBetween);
}

function bundlesBetween(cables: readonly MapCable[]): MapCable[] {
  const [first] = cables;
  if (first === undefined) return [];
  const placeIds = new Set(cables.flatMap(({ nearPlace, farPlace }) => [nearPlace?.id, farPlace?.id]));
  // The aggregate may have a cable of its own, by CDP for example.
  const placeOf = (place: MapPort | null, port: MapPort | null) => place ?? (placeIds.has(port?.id) ? port : null);
  const carried = cables.map((cable): Carried => {
    const [near, far] = [placeOf(cable.nearPlace, cable.near), placeOf(cable.farPlace, cable.far)];
    const isSameWay = cable.near.host_id === first.near.host_id;
    return isSameWay ? { cable, left: near, right: far } : { cable, left: far, right: near };
  });
  completeOtherEnds(carried, "left", "right");
  completeOtherEnds(carried, "right", "left");
  const groups = Map.groupBy(carried, ({ cable, left, right }) =>
    left === null && right === null ? cable.key : `${left?.id} ${right?.id}`,
  );
  return [...groups.values()].flatMap(bundleOf);
}

/** Completes an end without an interface from other cables of the same aggregate, if they agree. */
function completeOtherEnds(carried: readonly Carried[], known: "left" | "right", unknown: "left" | "right"): void {
  for (const [place, group] of Map.groupBy(carried, (each) => each[known]?.id)) {
    const others = new Map(
      group.flatMap((each) => (each[unknown] === null ? [] : [[each[unknown].id, each[unknown]]])),
    );
    const [other] = others.values();
    if (place === undefined || other === undefined || others.size > 1) continue;
    for (const each of group) each[unknown] ??= other;
  }
}

function bundleOf(group: readonly Carried[]): MapCable[] {
  const [first] = group;
  if (first === undefined) return [];
  const { cable, left, right } = first;
  const near = left ?? right;
  if (near === null) return [cable];
  const cables = group.map((each) => each.cable);
  const isOwn = (each: MapCable) => each.near.host_id === near.host_id;
  const otherEnd = isOwn(cable) ? cable.far : cable.near;
  const far = (left === null ? null : right) ?? (cables.length === 1 ? otherEnd : null);
  const farNode = isOwn(cable) ? cable.farNode : cable.near.host_id;
  return [
    {
      ...cable,
      key: far === null ? `${near.id}--${farNode}` : [near.id, far.id].sort(compareCodePoints).join("--"),
      near,
      far,
      farNode,
      announcedPort: far === null && cables.length === 1 ? cable.announcedPort : null,
      certainty: far === null ? weakestOf(cables) : "Interfaces",
      isShared: cables.some((each) => each.isShared),
      evidence: cables.flatMap((each) => each.evidence),
      members: cables.filter((each) => [each.near, each.far].some((port) => typeof port?.lag_id === "string")),
    },
  ];
}

function weakestOf(cables: readonly MapCable[]): MapCable["certainty"] {
  return cables.find(({ certainty }) => certainty !== "Interfaces")?.certainty ?? "Interfaces";
}
