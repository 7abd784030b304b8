// Random request bodies for the history that filters run on: strings in various scripts, missing, null and empty
// values, and nested addresses. Sends nothing.

import type { JsonRecord } from "../appliance/factories.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";

/** Recurring names: cases, composed and decomposed accents, and characters with a meaning in filters. */
export const TEXTS = [
  "core-sw-01",
  "CORE-SW-01",
  "Core/SW_02.example.net",
  "caf\u00e9",
  "cafe\u0301",
  "CAF\u00c9 \u2116 1",
  "stra\u00dfe",
  "STRASSE",
  "\u0130stanbul",
  "istanbul",
  "\u039f\u0394\u039f\u03a3",
  "\u03bf\u03b4\u03cc\u03c2 \u03bf\u03b4\u03bf\u03c2",
  "300 \u212a",
  "300 k",
  "100% *busy*",
  "100x busy",
  "under_score",
  "underXscore",
  "back\\slash",
  "\"double\" 'single'",
  "(a, b) AND NOT c",
  "-minus:colon=equal<less",
  "\u65e5\u672c \u6771\u4eac-1",
  "\ud83d\ude00 smile",
  "\uff21 wide",
  "0",
  "10",
  "9",
  "null",
  "true",
  "*",
];
const LONG = `${"long ".repeat(40)}end`;
export const MACS = ["00:1b:21:aa:bb:cc", "00:1b:21:aa:bb:cd", "00:1b:2a:00:00:01", "aa:bb:cc:dd:ee:ff"];
export const IPS = "10.2.3.4 10.2.3.40 10.20.3.4 192.168.7.1 2001:db8::1 2001:db8::10:1 fe80::1b:21".split(" ");
export const CIDRS = "0.0.0.0/0 10.0.0.0/8 10.2.0.0/16 10.2.3.0/24 ::/0 2001:db8::/32 2001:db8::/64".split(" ");
const DEFINITIONS = ["ssh", "SSH", "nginx", "caf\u00e9"];
const PORT_NUMBERS = [22, 80, 443, 8080];

export class FilterDrafts {
  private readonly random: SeededRandom;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  text(): string {
    const { random } = this;
    if (random.integer(30) === 0) return LONG;
    return random.integer(3) === 0 ? `sw-${random.integer(40)}` : random.pick(TEXTS);
  }

  optionalText(): string | null | undefined {
    return this.random.pick([undefined, null, "", this.text(), this.text(), this.text()]);
  }

  /** Random children of a host, some with these tags. */
  hostChildren(tags: readonly string[]): JsonRecord {
    const { random } = this;
    const sample = <T>(items: readonly T[]): T[] => items.filter(() => random.integer(items.length) < 2);
    return {
      ip_addresses: sample(IPS).map((ip_address) => ({
        ip_address,
        mac_address: random.pick([null, ...MACS]),
        name: random.pick(["", random.pick(TEXTS)]),
      })),
      ports: sample(PORT_NUMBERS).map((number) => ({ number, protocol: random.pick(["Tcp", "Udp"]) })),
      services: sample(DEFINITIONS).map((service_definition) => ({
        name: random.pick(TEXTS),
        service_definition,
        tags: random.pick([[], tags]),
      })),
    };
  }

  /** Random fields of an interface entry. */
  interfaceFields(vlans: readonly string[], neighbors: readonly JsonRecord[]): JsonRecord {
    const { random } = this;
    return random.pick<JsonRecord>([
      { oper_status: random.pick(["Up", "Down", "Testing"]) },
      { oper_status: random.pick(["Up", "Down"]) },
      { oper_status: random.pick(["Up", "Down"]), admin_status: random.pick(["Up", "Down"]) },
      { if_alias: this.optionalText(), if_name: random.pick(["Gi1/0/1", "Gi1/0/2", null]) },
      { if_alias: "" },
      { speed_bps: random.pick([null, 1_000, 2_500_000_000, 10_000_000_000, 1_000_000_000_000]) },
      { mac_address: random.pick([null, ...MACS]) },
      { native_vlan_id: random.pick([null, ...vlans]) },
      { vlan_ids: vlans.filter(() => random.integer(2) === 0) },
      { fdb_macs: MACS.filter(() => random.integer(3) === 0) },
      { lldp_chassis_id: random.pick([null, { subtype: "MacAddress", value: random.pick(MACS) }]) },
      { lldp_chassis_id: { subtype: "InterfaceName", value: random.pick(TEXTS) } },
      { neighbor: random.pick([null, ...neighbors]) },
    ]);
  }
}
