// Probes for the demo's simulated network. Nothing is sent.

import type { Clock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import type { Device } from "../discovery/device.ts";
import type { PollResult, Probes, Refusal } from "../discovery/scans/probes.ts";
import type { AddressSighting, OpenPort } from "../discovery/sightings.ts";
import type { SnmpCredential } from "../discovery/snmp/credential.ts";
import { endedStep, type TrialStep, untriedStep } from "../discovery/snmp/trial-steps.ts";
import { type Campus, type CampusStation, DOMAINS, dnsNameOf } from "./campus.ts";
import { CampusSnapshot } from "./device-report.ts";
import type { Site, Switch } from "./equipment.ts";

/** SNMP credential of each site's switches: a community or a user name. */
export const SNMP_NAMES: Readonly<Record<Site, string>> = { campus: "larkfield-ro", harbour: "harbour-poller" };
/** Both passwords of the SNMP user; the simulated agents do not check them. */
export const SNMP_PASSWORD = "made-up-for-the-demo";

/** Ports probed on every machine. */
const PORTS = [22, 53, 80, 389, 443, 445, 554, 631, 873, 1883, 5060, 5432, 8080, 9090, 9100] as const;
/** Simulated durations: for a sweep of this many addresses, and for reading a device. */
const SWEEP = { addresses: 128, ms: 900 } as const;
const READ_MS = 450;
/** The network is static for this long. */
const SNAPSHOT_MS = 20_000;

interface DemoProbesOptions {
  readonly campus: Campus;
  readonly clock: Clock;
  /** Simulates the time that a real network takes. */
  readonly delay: (ms: number) => Promise<void>;
  /** Both sites have addresses of the same subnet. */
  readonly site: Site;
}

export function demoProbes({ campus, clock, delay, site }: DemoProbesOptions): Probes {
  let snapshot = new CampusSnapshot(campus, clock.now());
  const snapshotAt = (now: Instant) => {
    if (now < snapshot.instant || now >= snapshot.instant + SNAPSHOT_MS) snapshot = new CampusSnapshot(campus, now);
    return snapshot;
  };
  return {
    sweep: async (addresses, signal, events) => {
      let done = 0;
      while (done < addresses.length && !signal.aborted) {
        const batch = new Set(addresses.slice(done, done + SWEEP.addresses));
        await delay(SWEEP.ms);
        for (const sighting of answeringAddresses(campus, clock.now(), site))
          if (batch.has(sighting.ip_address)) await events.answer(sighting);
        done += batch.size;
        events.progress({ done, requests: done * 2, errors: {} });
      }
      return { methods: "simulated for the demo" };
    },
    pollDevice: async (address, { credentials, maySend, signal }) => {
      await delay(READ_MS);
      const now = clock.now();
      const device = campus.switchesAt(now).find((each) => each.site === site && each.address === address);
      const failures: Refusal[] = [];
      for (const credential of credentials) {
        if (signal.aborted || !maySend(credential)) {
          failures.push(refusal(credential, "cancelled", "it was canceled"));
          continue;
        }
        if (device !== undefined && nameOf(credential) === SNMP_NAMES[device.site])
          return answered(device, snapshotAt(now), credential);
        failures.push(refusal(credential, "no_answer", "no response"));
      }
      return { ok: false, failures, requests: credentials.length };
    },
    reach: async (address) => {
      await delay(READ_MS);
      const found = [...answeringAddresses(campus, clock.now(), site)].find(({ ip_address }) => ip_address === address);
      return { answered: found?.answered ?? [], methods: "simulated requests", hasRoute: true };
    },
    tryCredential: async (address, credential, { onStep }) => {
      const startedMs = performance.now();
      await delay(READ_MS);
      const now = clock.now();
      const device = campus.switchesAt(now).find((each) => each.site === site && each.address === address);
      const steps = simulatedSteps(
        startedMs,
        device === undefined
          ? "no_agent"
          : nameOf(credential) === SNMP_NAMES[device.site]
            ? snapshotAt(now).deviceOf(device)
            : "refused",
      );
      for (const step of steps) onStep(step);
      return steps;
    },
    macOf: () => null,
    addressesOf: async (name) => {
      const found = campus.stationsAt(clock.now()).find((station) => name === dnsNameOf(station));
      return found === undefined ? [] : found.addresses;
    },
    forgetSecrets: () => {},
  };
}

const READING = ["system", "interfaces", "addresses", "lldp", "forwarding"] as const;

/** Steps that a real agent of this kind would yield; nothing is sent. */
function simulatedSteps(startedMs: number, found: Device | "no_agent" | "refused"): TrialStep[] {
  if (found === "no_agent")
    return [
      endedStep("agent", startedMs, {
        outcome: "Unclear",
        reason: "no_answer",
        sentence: "No SNMP agent answers there: the demo has no switch at this address.",
      }),
      ...(["authentication", ...READING] as const).map((step) => untriedStep(step, "Not asked.")),
    ];
  const agent = endedStep("agent", startedMs, { outcome: "Passed", sentence: "An SNMP agent responds." });
  if (found === "refused")
    return [
      agent,
      endedStep("authentication", startedMs, {
        outcome: "Failed",
        reason: "no_answer",
        sentence: "The demo's switch has a different community or user.",
      }),
      ...READING.map((step) => untriedStep(step, "Not tried: the device has not accepted the credential.")),
    ];
  const rows = (table: string, count: number) =>
    count === 0
      ? ({ outcome: "Empty", sentence: `Nothing under ${table}.` } as const)
      : ({ outcome: "Passed", sentence: `The table of ${table} answers: ${count} rows.` } as const);
  return [
    agent,
    endedStep("authentication", startedMs, { outcome: "Passed", sentence: "The device accepts the credential." }),
    endedStep("system", startedMs, {
      outcome: "Passed",
      sentence: "The device identifies itself.",
      facts: [
        { name: "sys_name", value: found.sys_name ?? "" },
        { name: "sys_descr", value: found.sys_descr ?? "" },
        { name: "sys_object_id", value: found.sys_object_id ?? "" },
      ],
    }),
    endedStep("interfaces", startedMs, rows("interfaces", found.rows.interfaces.read)),
    endedStep("addresses", startedMs, rows("its own addresses", found.rows.addresses.read)),
    endedStep("lldp", startedMs, rows("neighbors", found.rows.lldp.read)),
    endedStep("forwarding", startedMs, rows("MAC addresses behind its ports", found.rows.forwarding.read)),
  ];
}

function answered(device: Switch, snapshot: CampusSnapshot, { credential_id }: SnmpCredential): PollResult {
  const report = snapshot.deviceOf(device);
  const requests = Math.ceil(Object.values(report.rows).reduce((sum, { read }) => sum + read, 0) / 10);
  return { ok: true, device: report, credential: { credential_id, key_extension: null }, requests };
}

function* answeringAddresses(campus: Campus, now: number, site: Site): Generator<AddressSighting> {
  for (const { address, name, site: at } of campus.switchesAt(now))
    if (at === site)
      yield {
        ip_address: address,
        mac_address: null,
        hostname: `${name}.${DOMAINS[at]}`,
        answered: ["Icmp"],
      };
  for (const station of campus.stationsAt(now)) if (station.kind.site === site) yield* sightingsOf(station);
}

/** The appliance is on every link of the campus, and reaches the harbour through its router. */
function* sightingsOf(station: CampusStation): Generator<AddressSighting> {
  const { kind, mac, addresses } = station;
  for (const ip_address of addresses)
    yield {
      ip_address,
      mac_address: kind.site === "campus" ? mac : null,
      hostname: dnsNameOf(station),
      answered: kind.services === undefined ? ["Icmp"] : ["Icmp", "Tcp"],
      ports: { asked: PORTS, open: (kind.services ?? []).map(openPort) },
    };
}

function openPort([number, name, service_definition]: readonly [number, string, string]): OpenPort {
  return { number, protocol: "Tcp", service: { name, service_definition } };
}

function nameOf(credential: SnmpCredential): string {
  return credential.version === "SnmpV3" ? credential.security_name : credential.community;
}

function refusal({ credential_id }: SnmpCredential, reason: string, clause: string): Refusal {
  return { credential_id, reason, clause };
}
