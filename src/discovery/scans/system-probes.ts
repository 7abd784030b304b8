// The probes of a real network: the sweep, SNMP with the MIBs, the kernel's neighbor table and the system's resolver,
// put together.

import { parseIp } from "../../base/ip.ts";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import { NeighborTable, openNeighbors } from "../kernel/neighbors.ts";
import { askDevice } from "../snmp/ask-device.ts";
import { forgetKeys } from "../snmp/net-snmp-user.ts";
import { tryCredential } from "../snmp/try-credential.ts";
import { sweep } from "../sweep/sweep.ts";
import { DEFAULT_TCP_PORTS, portsForSilent } from "../sweep/tcp-ports.ts";
import type { Probes, Reached } from "./probes.ts";

type SweepErrors = Awaited<ReturnType<typeof sweep>>["errors"];

/** The neighbor table is read again after this. */
const NEIGHBORS_MAX_AGE_MS = 1_000;
/** A name that nobody answers for by then has no address. */
const NAME_TIMEOUT_MS = 3_000;

interface SystemProbesOptions {
  readonly snmpPort: number;
  /** Null for the sweep's own list. */
  readonly tcpPorts: readonly number[] | null;
  readonly timers: Timers;
  readonly random: Random;
  /** Milliseconds that only go forward. */
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
    askDevice: (address, options) => askDevice({ address, port: snmpPort }, { ...options, timers, random }),
    reach: async (address, signal) => {
      const answered = new Set<Reached["answered"][number]>();
      const { means, errors } = await sweep(
        { addresses: [address], count: 1 },
        {
          signal,
          random,
          timers,
          monotonicMs,
          isDnsOn: false,
          isIdentifyingOn: false,
          // Those that tell whether it is there: all of them would take longer than whoever waits.
          tcpPorts: portsForSilent(tcpPorts ?? DEFAULT_TCP_PORTS),
        },
        {
          answer: (sighting) => {
            for (const way of sighting.answered) answered.add(way);
          },
        },
      ).catch(() => {
        // It took too long, or this machine tells no routes: nothing is known, and it is asked by SNMP all the same.
        return { means: "ICMP and TCP", errors: {} as SweepErrors };
      });
      return { answered: [...answered], means, hasRoute: answered.size > 0 || errors.NoRoute === undefined };
    },
    tryCredential: (address, credential, options) =>
      tryCredential({ address, port: snmpPort }, credential, { ...options, timers, random }),
    macOf: (address) => {
      try {
        return neighbors.find(address, NEIGHBORS_MAX_AGE_MS)?.neighbor.mac_address ?? null;
      } catch {
        // A kernel that tells nobody: one sign less.
        return null;
      }
    },
    addressesOf: async (name, signal) => {
      const { promise: over, resolve } = Promise.withResolvers<null>();
      const end = () => resolve(null);
      const cancel = timers.after(NAME_TIMEOUT_MS, end);
      signal.addEventListener("abort", end);
      try {
        // A name without dots is looked for in the domains of this machine, as people here would. Not by
        // getaddrinfo(3): it holds one of the few threads that hash passwords as well, for as long as nobody answers,
        // and whoever announces names decides who that is.
        const found = await Promise.race([Bun.dns.lookup(name, { backend: "c-ares" }).catch(() => []), over]);
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
