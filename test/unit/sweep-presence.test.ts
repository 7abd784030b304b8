// Presence of on-link stations when only the kernel can send ARP and its table does not mark confirmed entries; and the
// probes used.

import { describe, expect, test } from "bun:test";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { NeighborTable } from "../../src/discovery/kernel/neighbors.ts";
import { parseArpTable } from "../../src/discovery/kernel/proc-tables.ts";
import type { EchoOutcome } from "../../src/discovery/sweep/echo.ts";
import { presenceAt } from "../../src/discovery/sweep/presence.ts";
import type { ProbeMethods } from "../../src/discovery/sweep/probe-methods.ts";
import type { TcpOutcome } from "../../src/discovery/sweep/tcp-prober.ts";

const MAC = "00:1b:21:00:00:09";
const TABLE = `IP address       HW type     Flags       HW address            Mask     Device
10.70.0.9        0x1         0x2         ${MAC}     *        eth0
`;
const NOT_SENT = { kind: "Failed", error: "NotPermitted" } as const;

interface Link {
  /** Kernel table after probes of these ports; one with a stale entry by default. */
  readonly table?: (ports: readonly number[]) => string;
  readonly tcpPorts?: readonly number[];
}

/** @param echo null if echo requests are unavailable */
async function presence(echo: EchoOutcome | null, tcp: TcpOutcome, link: Link = {}) {
  return (await probePresence(echo, tcp, link)).found;
}

/** Presence, and the probed ports in order. */
async function probePresence(
  echo: EchoOutcome | null,
  tcp: TcpOutcome,
  { table = () => TABLE, tcpPorts = [22, 80] }: Link,
) {
  const ports: number[] = [];
  let nowMs = 0;
  const during = async <Result>(work: () => Promise<Result>): Promise<Result> => await work();
  const probes = {
    routes: { routeTo: () => ({ kind: "Link", ifIndex: 2, source: null, mac: null }) },
    arp: null,
    hasNeighborStates: false,
    unresolved: { during },
    connections: { during },
    permit: async () => {},
    monotonicMs: () => nowMs,
    pause: async (ms: number) => {
      nowMs += ms;
    },
    neighbors: new NeighborTable(
      () => nowMs,
      () => parseArpTable(table(ports), () => 2),
    ),
    count: () => {},
    echo: async () => echo && { method: "Ping", probe: async () => echo },
    tcp: {
      connect: async (_ip: Ip, port: number) => {
        ports.push(port);
        return tcp;
      },
    },
  } as unknown as ProbeMethods;
  return { found: await presenceAt(parseIp("10.70.0.9") as Ip, probes, tcpPorts), ports };
}

describe("a neighbor table entry older than the sweep", () => {
  test.each([[NOT_SENT], [null]])("is not evidence if no request could be sent (echo: %p)", async (echo) => {
    expect(await presence(echo, NOT_SENT)).toBeNull();
  });

  test.each([
    ["an echo request", { kind: "Silent" }, NOT_SENT],
    ["a connection", NOT_SENT, { kind: "Silent" }],
  ] as const)("is evidence if %s was sent, since the kernel has revalidated it", async (_case, echo, tcp) => {
    const found = await presence(echo, tcp);
    expect([...(found?.answered ?? [])]).toEqual(["Neighbor"]);
    expect(found?.mac_address).toBe(MAC);
  });
});

describe("an address without a neighbor table entry", () => {
  const NO_TOOL = { kind: "Failed", error: "Tool" } as const;
  const EMPTY = TABLE.slice(0, TABLE.indexOf("\n") + 1);
  const emptyTable = () => EMPTY;
  /** The kernel finds a station once a probe makes it resolve the address. */
  const tableOnceProbed = (ports: readonly number[]) => (ports.length > 0 ? TABLE : EMPTY);

  test.each([
    ["there is no means of sending echo requests", null],
    ["no echo request could be sent", NO_TOOL],
    ["no echo request was permitted", NOT_SENT],
  ] as const)("is probed by TCP if %s: an open port is evidence", async (_why, echo) => {
    const { found, ports } = await probePresence(echo, { kind: "Open" }, { table: emptyTable });
    expect([...(found?.answered ?? [])]).toEqual(["Tcp"]);
    expect(ports).toEqual([22]);
  });

  test.each([[null], [NO_TOOL], [NOT_SENT]])("is resolved by the kernel on TCP probing (echo: %p)", async (echo) => {
    const { found, ports } = await probePresence(echo, { kind: "Silent" }, { table: tableOnceProbed });
    expect([...(found?.answered ?? [])]).toEqual(["Neighbor"]);
    expect(found?.mac_address).toBe(MAC);
    expect(ports).toEqual([22]);
  });

  test("is not probed by TCP after an echo request, which made the kernel resolve it", async () => {
    const outcome = await probePresence({ kind: "Silent" }, { kind: "Open" }, { table: emptyTable });
    expect(outcome).toEqual({ found: null, ports: [] });
  });

  test("is considered unused if no echo request could be sent and no port may be probed", async () => {
    const link = { table: emptyTable, tcpPorts: [] };
    expect(await probePresence(NO_TOOL, { kind: "Open" }, link)).toEqual({ found: null, ports: [] });
  });
});
