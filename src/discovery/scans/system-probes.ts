// Probes of a real network: sweep, SNMP with the MIBs, the kernel's neighbor table and the system resolver.

import { parseIp } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import { NeighborTable, openNeighbors } from "../kernel/neighbors.ts";
import { pollDevice } from "../snmp/ask-device.ts";
import { forgetKeys } from "../snmp/net-snmp-user.ts";
import { tryCredential } from "../snmp/try-credential.ts";
import { sweep } from "../sweep/sweep.ts";
import { DEFAULT_TCP_PORTS, portsForSilent } from "../sweep/tcp-ports.ts";
import type { Probes, ReachResult } from "./probes.ts";

type SweepErrors = Awaited<ReturnType<typeof sweep>>["errors"];

/** Maximum age of the neighbor table cache. */
const NEIGHBORS_MAX_AGE_MS = 1_000;
/** A name without a response by then has no address. */
const NAME_TIMEOUT_MS = 3_000;

interface SystemProbesOptions {
  readonly snmpPort: number;
  /** Null for the sweep's default list. */
  readonly tcpPorts: readonly number[] | null;
  readonly timers: Timers;
  readonly random: Random;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
}

export function systemProbes({ snmpPort, tcpPorts, timers, random, monotonicMs }: SystemProbesOptions): Probes {
  const neighbors = new NeighborTable(monotonicMs, openNeighbors().read);
  return {
    sweep: (addresses, signal, events) =>
      sweep(
        { addresses, count: addresses.length },
        { signal, random, timers, monotonicMs, ...(tcpPorts === null ? {} : { tcpPorts }) },
        {
          answer: events.answer,
          progress: ({ done, requests, errors }) =>
            events.progress({
              done,
              requests,
              errors: Object.fromEntries(Object.entries(errors).map(([kind, count]) => [snakeCase(kind), count])),
            }),
        },
      ),
    pollDevice: (address, options) => pollDevice({ address, port: snmpPort }, { ...options, timers, random }),
    reach: async (address, signal) => {
      const answered = new Set<ReachResult["answered"][number]>();
      const { methods, errors } = await sweep(
        { addresses: [address], count: 1 },
        {
          signal,
          random,
          timers,
          monotonicMs,
          isDnsOn: false,
          isIdentifyingOn: false,
          // Only the ports that best reveal a host: all ports would exceed the caller's wait.
          tcpPorts: portsForSilent(tcpPorts ?? DEFAULT_TCP_PORTS),
        },
        {
          answer: (sighting) => {
            for (const method of sighting.answered) answered.add(method);
          },
        },
      ).catch(() => {
        // Timeout, or no routes from this machine: reachability is unknown, and SNMP is tried anyway.
        return { methods: "ICMP and TCP", errors: {} as SweepErrors };
      });
      return { answered: [...answered], methods, hasRoute: answered.size > 0 || errors.NoRoute === undefined };
    },
    tryCredential: (address, credential, options) =>
      tryCredential({ address, port: snmpPort }, credential, { ...options, timers, random }),
    macOf: (address) => {
      try {
        return neighbors.find(address, NEIGHBORS_MAX_AGE_MS)?.neighbor.mac_address ?? null;
      } catch {
        // The kernel provides no neighbor table: which leaves one sign fewer.
        return null;
      }
    },
    addressesOf: async (name, signal) => {
      const { promise: timedOut, resolve } = Promise.withResolvers<null>();
      const end = () => resolve(null);
      const cancel = timers.after(NAME_TIMEOUT_MS, end);
      signal.addEventListener("abort", end);
      try {
        // Resolves a name without dots in this machine's search domains, as users would expect. Not by getaddrinfo(3):
        // a lookup without a response holds one of the few threads that also hash passwords, and devices choose the
        // names that they announce.
        const found = await Promise.race([Bun.dns.lookup(name, { backend: "c-ares" }).catch(() => []), timedOut]);
        return found === null ? null : [...new Set(found.flatMap(({ address }) => parseIp(address)?.text ?? []))];
      } finally {
        cancel();
        signal.removeEventListener("abort", end);
      }
    },
    forgetSecrets: forgetKeys,
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
