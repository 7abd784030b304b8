// Scan targets selected in the wizard: subnets of the network, and typed targets.

import { useMemo } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { addressesOfTargets, isAnyLarge, targetsIn } from "../scanning/targets.ts";
import { parameter } from "../url/location.ts";
import { type SubnetChoice, subnetChoice } from "./subnet-choice.ts";
import { selectedSubnets, WIZARD } from "./wizard-url.ts";

export type Network = DataOf<"/api/v1/networks">[number];
export type Machine = DataOf<"/api/v1/discovery/self">;

/** Limit of subnets offered for selection; with more, typing is faster. */
const SUBNETS_OFFERED = 500;

export interface OfferedSubnet extends SubnetChoice {
  readonly id: string;
  readonly name: string;
  /** Interfaces of this machine in the subnet. */
  readonly interfaces: readonly string[];
  /** Whether this machine's default route goes through the subnet. */
  readonly isDefaultRoute: boolean;
  readonly isSelected: boolean;
}

export interface ScanTargets {
  /** Undefined while loading. */
  readonly subnets: readonly OfferedSubnet[] | undefined;
  /** Selected and typed targets, without duplicates. */
  readonly targets: readonly string[];
  /** Number of addresses. */
  readonly size: number;
  /** Whether a target is large enough to require confirmation. */
  readonly isLarge: boolean;
  readonly problem: Refusal | undefined;
  retry(): void;
}

/** This machine's own data, whether or not it is in the inventory. */
export function useMachine() {
  return useResponse(read("/api/v1/discovery/self"));
}

export function useScanTargets({ id }: Network): ScanTargets {
  const query = { network_id: id, order_by: "cidr", limit: SUBNETS_OFFERED } as const;
  const response = useResponse(read("/api/v1/subnets", { query }));
  const machine = useMachine();
  // On failure, subnets are offered without interface information.
  const isKnown = machine.data !== undefined || machine.problem !== undefined;
  const addresses = machine.data?.addresses;
  const selectedCidrs = selectedSubnets();
  const data = response.data?.every(({ network_id }) => network_id === id) === true ? response.data : undefined;
  const subnets = useMemo(() => {
    if (data === undefined || !isKnown) return undefined;
    return data.map((subnet): OfferedSubnet => {
      const ownAddresses = (addresses ?? []).filter(({ cidr }) => cidr === subnet.cidr);
      const interfaces = [...new Set(ownAddresses.flatMap(({ if_name }) => if_name ?? []))];
      const choice = subnetChoice(subnet, interfaces);
      const isSelected = choice.isScannable && (selectedCidrs?.includes(subnet.cidr) ?? choice.skipReason === null);
      const isDefaultRoute = ownAddresses.some(({ is_default_route }) => is_default_route);
      return { ...choice, id: subnet.id, name: subnet.name, interfaces, isDefaultRoute, isSelected };
    });
  }, [data, isKnown, addresses, selectedCidrs?.join(",")]);
  const selected = (subnets ?? []).filter(({ isSelected }) => isSelected).map(({ cidr }) => cidr);
  const targets = [...new Set([...selected, ...targetsIn(parameter(WIZARD.others) ?? "")])];
  const { problem, retry } = response;
  return { subnets, targets, size: addressesOfTargets(targets) ?? 0, isLarge: isAnyLarge(targets), problem, retry };
}
