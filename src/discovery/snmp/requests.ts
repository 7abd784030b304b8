// Interface of an SNMP session for the readers in this directory: one request at a time, which gets a response or
// fails. No I/O.

import type { SnmpFailure } from "./failure.ts";

export interface SnmpRequest {
  readonly kind: "Get" | "GetNext" | "GetBulk";
  /** Dotted. */
  readonly oids: readonly string[];
  /** GetBulk only: number of rows wanted. All OIDs repeat. */
  readonly maxRepetitions?: number;
}

export interface Varbind {
  readonly oid: string;
  /** VARBIND_TYPE. */
  readonly type: number;
  /** As decoded by net-snmp: number, OID or address as a string, Buffer, or null. */
  readonly value: unknown;
}

/** Response of the agent; for GetBulk, row by row. Its OIDs and length may differ from the request. */
export interface AgentReply {
  readonly varbinds: readonly Varbind[];
  /** ERROR_STATUS; 0 for none. */
  readonly errorStatus: number;
  /** Index of the OID in the request, from 1; 0 and any other value carry no meaning. */
  readonly errorIndex: number;
  /** Size of the datagram. */
  readonly byteCount: number;
}

export interface SnmpRequester {
  /** True if the version has GetBulk: v1 does not. */
  readonly hasBulk: boolean;
  /**
   * Sends a request, retries without a response, and gives up after a bounded time. Never rejects. The previous request
   * must be finished.
   * @param signal if aborted with an SnmpFailure, the result is that failure; otherwise `cancelled`
   */
  request(snmpRequest: SnmpRequest, signal: AbortSignal): Promise<AgentReply | SnmpFailure>;
  /** Same agent, with a timeout not much longer than its responses so far. Shares the request slot. */
  withBriefTimeout(): SnmpRequester;
  /**
   * Same agent, in the context of one VLAN: community `public@10`, SNMPv3 context `vlan-10`. Shares the request slot.
   */
  inVlan(vlan: number): SnmpRequester;
}

/** RFC 3416 §3. */
export const ERROR_STATUS = { tooBig: 1, noSuchName: 2, genErr: 5, noAccess: 6, authorizationError: 16 } as const;

/** Tags of RFC 3416 §3 and RFC 2578 §7.1. */
export const VARBIND_TYPE = {
  Boolean: 1,
  Integer: 2,
  OctetString: 4,
  Oid: 6,
  IpAddress: 64,
  Counter32: 65,
  Gauge32: 66,
  TimeTicks: 67,
  Opaque: 68,
  Counter64: 70,
  NoSuchObject: 128,
  NoSuchInstance: 129,
  EndOfMibView: 130,
} as const;
