// The demo's device models: port names and SNMP identity. Data only.

export interface PortRow {
  /** `#` is replaced by the number, `@` by the stack member. */
  readonly descr: string;
  readonly name: string;
  readonly first: number;
  readonly count: number;
  readonly speedBps: number;
}

export interface Model {
  readonly manufacturer: string;
  readonly model: string;
  readonly objectId: string;
  /** `%` is replaced by the version. */
  readonly descr: string;
  readonly version: string;
  /** OUI of its MAC addresses. */
  readonly oui: string;
  /** Ports of each member. */
  readonly rows: readonly PortRow[];
}

const GBPS = 1_000_000_000;
const IOS = "Cisco IOS Software [Cupertino], Catalyst L3 Switch Software (CAT9K_IOSXE), Version %, RELEASE SOFTWARE";

export const MODELS = {
  core: {
    manufacturer: "Cisco Systems, Inc.",
    model: "C9500-24Y4C",
    objectId: "1.3.6.1.4.1.9.1.2495",
    descr: IOS,
    version: "17.9.4a",
    oui: "70:6b:b9",
    rows: [
      { descr: "TwentyFiveGigE@/0/#", name: "Twe@/0/#", first: 1, count: 24, speedBps: 10 * GBPS },
      { descr: "HundredGigE@/0/#", name: "Hu@/0/#", first: 25, count: 4, speedBps: 100 * GBPS },
    ],
  },
  distribution: {
    manufacturer: "Cisco Systems, Inc.",
    model: "C9500-16X",
    objectId: "1.3.6.1.4.1.9.1.2267",
    descr: IOS,
    version: "17.9.4a",
    oui: "3c:08:f6",
    rows: [{ descr: "TenGigabitEthernet@/0/#", name: "Te@/0/#", first: 1, count: 16, speedBps: 10 * GBPS }],
  },
  access: {
    manufacturer: "Cisco Systems, Inc.",
    model: "C9300-48P",
    objectId: "1.3.6.1.4.1.9.1.2494",
    descr: IOS,
    version: "17.6.5",
    oui: "f8:7a:41",
    rows: [
      { descr: "GigabitEthernet@/0/#", name: "Gi@/0/#", first: 1, count: 48, speedBps: GBPS },
      { descr: "TenGigabitEthernet@/1/#", name: "Te@/1/#", first: 1, count: 4, speedBps: 10 * GBPS },
    ],
  },
  edge: {
    manufacturer: "Juniper Networks",
    model: "MX204",
    objectId: "1.3.6.1.4.1.2636.1.1.1.2.154",
    descr: "Juniper Networks, Inc. mx204 internet router, kernel JUNOS %",
    version: "22.4R3.25",
    oui: "2c:6b:f5",
    rows: [
      { descr: "et-0/0/#", name: "et-0/0/#", first: 0, count: 4, speedBps: 100 * GBPS },
      { descr: "xe-0/1/#", name: "xe-0/1/#", first: 0, count: 8, speedBps: 10 * GBPS },
    ],
  },
  aruba: {
    manufacturer: "HPE Aruba Networking",
    model: "6300M 48G 4SFP56",
    objectId: "1.3.6.1.4.1.47196.4.1.1.1.100",
    descr: "Aruba JL663A 6300M 48G 4SFP56 FL.%",
    version: "10.13.1010",
    oui: "b8:d4:e7",
    rows: [
      { descr: "@/1/#", name: "@/1/#", first: 1, count: 48, speedBps: GBPS },
      { descr: "@/1/#", name: "@/1/#", first: 49, count: 4, speedBps: 10 * GBPS },
    ],
  },
  gateway: {
    manufacturer: "MikroTik",
    model: "CCR2004-1G-12S+2XS",
    objectId: "1.3.6.1.4.1.14988.1",
    descr: "RouterOS CCR2004-1G-12S+2XS %",
    version: "7.15.3",
    oui: "48:a9:8a",
    rows: [
      { descr: "ether#", name: "ether#", first: 1, count: 1, speedBps: GBPS },
      { descr: "sfp-sfpplus#", name: "sfp-sfpplus#", first: 1, count: 12, speedBps: 10 * GBPS },
    ],
  },
} as const satisfies Record<string, Model>;
