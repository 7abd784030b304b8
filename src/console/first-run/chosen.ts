// Scan targets chosen in the wizard: selected subnets of the network, and typed targets.

import { useMemo } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { addressesOfTargets, areLarge, targetsIn } from "../scanning/targets.ts";
import { parameter } from "../url/location.ts";
import { tickedSubnets, WAY } from "./step-address.ts";
import { offerOf, type SubnetOffer } from "./subnet-offer.ts";

export type Network = DataOf<"/api/v1/networks">[number];
export type Machine = DataOf<"/api/v1/discovery/self">;

/** Subnets offered for selection; with more, typing is faster. */
const SUBNETS_OFFERED = 500;

export interface OfferedSubnet extends SubnetOffer {
  readonly id: string;
  readonly name: string;
  /** Interfaces of this machine in the subnet. */
  readonly interfaces: readonly string[];
  /** Whether this machine's default route leads through the subnet. */
  readonly isDefaultRoute: boolean;
  readonly isTicked: boolean;
}

export interface Chosen {
  /** Undefined while loading. */
  readonly subnets: readonly OfferedSubnet[] | undefined;
  /** Selected and typed targets, without duplicates. */
  readonly targets: readonly string[];
  readonly size: number;
  /** Whether a target is large enough to require confirmation. */
  readonly isLarge: boolean;
  readonly problem: Refusal | undefined;
  again(): void;
}

/** This machine as it sees itself, recorded or not. */
export function useMachine() {
  return useAnswer(read("/api/v1/discovery/self"));
}

export function useChosen({ id }: Network): Chosen {
  const query = { network_id: id, order_by: "cidr", limit: SUBNETS_OFFERED } as const;
  const answer = useAnswer(read("/api/v1/subnets", { query }));
  const machine = useMachine();
  // On failure, subnets are offered without interface information.
  const isKnown = machine.data !== undefined || machine.problem !== undefined;
  const addresses = machine.data?.addresses;
  const ticked = tickedSubnets();
  const data = answer.data?.every(({ network_id }) => network_id === id) === true ? answer.data : undefined;
  const subnets = useMemo(() => {
    if (data === undefined || !isKnown) return undefined;
    return data.map((subnet): OfferedSubnet => {
      const own = (addresses ?? []).filter(({ cidr }) => cidr === subnet.cidr);
      const interfaces = [...new Set(own.flatMap(({ if_name }) => if_name ?? []))];
      const offer = offerOf(subnet, interfaces);
      const isTicked = offer.isPossible && (ticked?.includes(subnet.cidr) ?? offer.doubt === null);
      const isDefaultRoute = own.some(({ is_default_route }) => is_default_route);
      return { ...offer, id: subnet.id, name: subnet.name, interfaces, isDefaultRoute, isTicked };
    });
  }, [data, isKnown, addresses, ticked?.join(",")]);
  const named = (subnets ?? []).filter(({ isTicked }) => isTicked).map(({ cidr }) => cidr);
  const targets = [...new Set([...named, ...targetsIn(parameter(WAY.others) ?? "")])];
  return {
    subnets,
    targets,
    size: addressesOfTargets(targets) ?? 0,
    isLarge: areLarge(targets),
    problem: answer.problem,
    again: answer.again,
  };
}
