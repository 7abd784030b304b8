// Identification of services on open TCP ports by fingerprint. Independent of protocols. Sends nothing to ports without
// a fingerprint, since a printer would print it.

import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Ip } from "../../base/ip.ts";
import type { Timers } from "../../base/timers.ts";
import { FINGERPRINTS } from "../fingerprints/catalog.ts";
import type { Fingerprint, Reading } from "../fingerprints/fingerprint.ts";
import { serviceOf } from "../self/well-known-services.ts";
import type { IdentifiedService } from "../sightings.ts";

/** Maximum bytes read of a response. */
export const MAX_RESPONSE_BYTES = 16 * 1024;

/** From connecting to the last byte. */
const CONVERSATION_MS = 3_000;

interface ServiceIdentifierParts {
  readonly timers: Timers;
  /** Runs a conversation once a slot is free. */
  readonly permit: <Result>(conversation: () => Promise<Result>) => Promise<Result>;
}

/** Identifies by port number alone; null if unknown. */
export function knownService(port: number): IdentifiedService | null {
  const known = serviceOf({ number: port, protocol: "Tcp" });
  return known === null ? null : { name: known.name, service_definition: known.service_definition };
}

/** Opens one connection per fingerprint until one matches. */
export class ServiceIdentifier {
  private readonly parts: ServiceIdentifierParts;
  private readonly fingerprints: readonly Fingerprint[];
  private readonly greetings: readonly Fingerprint[];
  private readonly open = new Set<(reason: unknown) => void>();
  private ended: { reason: unknown } | null = null;

  constructor(parts: ServiceIdentifierParts, fingerprints: readonly Fingerprint[] = FINGERPRINTS) {
    this.parts = parts;
    this.fingerprints = fingerprints;
    this.greetings = fingerprints.filter(({ request, transport }) => request === null && transport === "Tcp");
  }

  /** Returns the service that responds, else the service known for the port; null if none. */
  async identify(ip: Ip, port: number): Promise<IdentifiedService | null> {
    const ofPort = this.fingerprints.filter(({ ports }) => ports.includes(port));
    const isGreeting = ({ request, transport }: Fingerprint): boolean => request === null && transport === "Tcp";
    // Servers that send a greeting may use any port: SSH on 8022, mail on 21.
    if (ofPort.length === 0 || ofPort.some(isGreeting)) {
      const service = await this.converse(ip, port, "Tcp", null, this.greetings);
      if (service) return service;
    }
    for (const fingerprint of ofPort.filter((each) => !isGreeting(each))) {
      const request = fingerprint.request?.({ host: ip.version === 6 ? `[${ip.text}]` : ip.text }) ?? null;
      const service = await this.converse(ip, port, fingerprint.transport, request, [fingerprint]);
      if (service) return service;
    }
    return knownService(port);
  }

  /** Rejects current and later calls with the reason and closes all connections. */
  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const refuse of [...this.open]) refuse(reason);
  }

  private converse(
    ip: Ip,
    port: number,
    transport: Fingerprint["transport"],
    request: Uint8Array | null,
    readers: readonly Fingerprint[],
  ): Promise<IdentifiedService | null> {
    return this.parts.permit(
      () =>
        new Promise((resolve, reject) => {
          if (this.ended) return reject(this.ended.reason);
          let bytes: Uint8Array = new Uint8Array();
          const settle = (action: () => void): void => {
            if (!this.open.delete(refuse)) return;
            cancelTimer();
            socket.destroy();
            action();
          };
          const refuse = (reason: unknown): void => settle(() => reject(reason));
          const conclude = (): void => settle(() => resolve(serviceIn(readingOf(readers, bytes, true, port))));
          const cancelTimer = this.parts.timers.after(CONVERSATION_MS, conclude);
          this.open.add(refuse);
          const socket = connect(ip, port, transport, () => {
            if (request) socket.write(request);
          });
          socket.on("data", (chunk: Uint8Array) => {
            if (!this.open.has(refuse)) return;
            bytes = Buffer.concat([bytes, chunk]).subarray(0, MAX_RESPONSE_BYTES);
            const isComplete = bytes.length >= MAX_RESPONSE_BYTES;
            const reading = readingOf(readers, bytes, isComplete, port);
            if (reading !== "More") settle(() => resolve(serviceIn(reading)));
          });
          for (const event of ["end", "close", "error"]) socket.on(event, conclude);
        }),
    );
  }
}

/** Returns the first match; More while one may still match. */
function readingOf(readers: readonly Fingerprint[], bytes: Uint8Array, isComplete: boolean, port: number): Reading {
  const readings = readers.map(({ read }) => read({ bytes, isComplete, port }));
  return (
    readings.find((reading) => typeof reading === "object") ??
    (readings.includes("More") && !isComplete ? "More" : "Other")
  );
}

function serviceIn(reading: Reading): IdentifiedService | null {
  return typeof reading === "object" ? reading : null;
}

/**
 * Device certificates are often self-signed or expired, and nothing sent is secret: accepts any certificate and old TLS
 * versions.
 */
function connect(ip: Ip, port: number, transport: Fingerprint["transport"], ready: () => void): Socket {
  if (transport === "Tcp") return connectTcp({ host: ip.text, port }, ready);
  return connectTls({ host: ip.text, port, rejectUnauthorized: false, minVersion: "TLSv1" }, ready);
}
