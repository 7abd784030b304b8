// What was chosen to be scanned: the subnets of the network that are ticked, and what was typed.

import { useMemo } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { addressesOfTargets, areLarge, targetsIn } from "../scanning/targets.ts";
import { parameter } from "../url/location.ts";
import { offerOf, type SubnetOffer } from "./subnet-offer.ts";
import { tickedSubnets, WAY } from "./way.ts";

export type Network = DataOf<"/api/v1/networks">[number];
export type SelfHost = DataOf<"/api/v1/hosts/{id}">;

/** More are typed sooner than found. */
const SUBNETS_OFFERED = 500;

export interface OfferedSubnet extends SubnetOffer {
  readonly id: string;
  readonly name: string;
  /** The names of the interfaces by which this machine is in it. */
  readonly interfaces: readonly string[];
  readonly isTicked: boolean;
}

export interface Chosen {
  /** Undefined until they are known. */
  readonly subnets: readonly OfferedSubnet[] | undefined;
  /** All that is ticked and typed, each once. */
  readonly targets: readonly string[];
  readonly size: number;
  /** Whether one of them is so large that it has to be said. */
  readonly isLarge: boolean;
  readonly problem: Refusal | undefined;
  again(): void;
}

/** The host that stands for this machine, as far as the address says which. */
export function useSelfHost(): ReturnType<typeof useAnswer<SelfHost, unknown>> {
  const id = parameter(WAY.self);
  return useAnswer(id === null ? null : read("/api/v1/hosts/{id}", { path: { id } }));
}

export function useChosen({ id }: Network): Chosen {
  const query = { network_id: id, order_by: "cidr", limit: SUBNETS_OFFERED } as const;
  const answer = useAnswer(read("/api/v1/subnets", { query }));
  const self = useSelfHost();
  const isKnown = parameter(WAY.self) === null || self.data !== undefined || self.problem !== undefined;
  const ticked = tickedSubnets();
  const data = answer.data?.every(({ network_id }) => network_id === id) === true ? answer.data : undefined;
  const subnets = useMemo(() => {
    if (data === undefined || !isKnown) return undefined;
    return data.map((subnet): OfferedSubnet => {
      const interfaces = self.data === undefined ? [] : interfacesIn(self.data, subnet.id);
      const offer = offerOf(subnet, interfaces);
      const isTicked = offer.isPossible && (ticked?.includes(subnet.cidr) ?? offer.doubt === null);
      return { ...offer, id: subnet.id, name: subnet.name, interfaces, isTicked };
    });
  }, [data, isKnown, self.data, ticked?.join(",")]);
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

/** By which interfaces a host is in a subnet. */
function interfacesIn(host: SelfHost, subnetId: string): string[] {
  const own = host.ip_addresses.filter(({ subnet_id }) => subnet_id === subnetId);
  return [...new Set(own.flatMap((address) => interfaceOf(host, address) ?? []))];
}

/** The name of the interface that has an address; null where it is not known. */
export function interfaceOf(host: SelfHost, { id, mac_address }: SelfHost["ip_addresses"][number]): string | null {
  const entries = host.interfaces;
  const found =
    entries.find(({ ip_address_id }) => ip_address_id === id) ??
    entries.find((entry) => mac_address !== null && entry.mac_address === mac_address);
  return found?.if_name ?? found?.if_descr ?? null;
}
