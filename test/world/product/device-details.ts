// Comparison of a device's records with the device itself.

import type { Detail } from "../figures/details.ts";
import type { Role } from "../site/machines.ts";
import type { Details } from "../site/truth.ts";
import type { Ledger } from "./ledger.ts";

type Checked = readonly [detail: Detail, isCorrect: boolean, example: string];

const TYPES: Readonly<Record<Role, string>> = {
  Core: "Layer3Switch",
  Distribution: "Switch",
  Access: "Switch",
  Firewall: "Firewall",
  Server: "Server",
  Hypervisor: "Server",
  ContainerHost: "Server",
  Controller: "WirelessController",
  AccessPoint: "AccessPoint",
  Printer: "Printer",
};

/**
 * @param host of the device
 * @param hostOf host of any device that was read before; undefined for others
 */
export function* checkDevice(
  { device, role, interfaces, members, movedAddress }: Details,
  host: string,
  ledger: Ledger,
  hostOf: (device: string) => string | undefined,
): Generator<Checked> {
  const entries = new Map(ledger.partsOf("interface", host).map((each) => [each.if_name, each]));
  const isCorrect = (wrong: readonly string[]) => [wrong.length === 0, `${device} ${wrong[0] ?? ""}`] as const;
  const wrongOf = (isWrong: (each: Details["interfaces"][number], entry: any) => boolean) =>
    interfaces.filter((each) => isWrong(each, entries.get(each.name))).map(({ name }) => name);
  yield ["cards", ...isCorrect(wrongOf(({ mac }, entry) => (entry?.mac_address ?? null) !== mac))];
  if (interfaces.some(({ lag }) => lag !== null)) {
    const lagOf = ({ lag }: { readonly lag: string | null }) => (lag === null ? undefined : entries.get(lag)?.id);
    yield ["aggregates", ...isCorrect(wrongOf((each, entry) => entry?.lag_id !== lagOf(each)))];
  }
  if (members.length > 0) {
    const components = ledger.partsOf("component", host);
    const isAt = ({ number, serial }: Details["members"][number]) =>
      components.some((each) => each.serial_number === serial && each.position === number);
    yield ["positions", ...isCorrect(members.filter((each) => !isAt(each)).map(({ serial }) => serial))];
  }
  const type = ledger.record("host", host)?.device_type;
  yield ["types", type === TYPES[role], `${role} ${type}`];
  if (movedAddress !== null) {
    const { ip, name, mac } = movedAddress;
    const address = ledger.partsOf("address", host).find((each) => each.ip_address === ip);
    const isMoved = address?.name === name && address.mac_address === mac;
    yield ["movedAddresses", isMoved && entries.get(name)?.ip_address_id === address.id, `${device} ${ip}`];
  }
  const isUnlinked = ({ farEnd }: Details["interfaces"][number], entry: any) => {
    const farHost = farEnd === null ? undefined : hostOf(farEnd.device);
    if (farHost === undefined || entry === undefined) return false;
    const { neighbor } = entry;
    const farEntry = neighbor?.type === "IfEntry" ? ledger.record("interface", neighbor.id) : undefined;
    return farEntry?.host_id !== farHost || farEntry.if_name !== farEnd?.name;
  };
  yield ["links", ...isCorrect(wrongOf(isUnlinked))];
  if (interfaces.some(({ isPortIdAnnounced }) => isPortIdAnnounced))
    yield ["portIds", ...isCorrect(wrongOf((each, entry) => each.isPortIdAnnounced && isUnlinked(each, entry)))];
}
