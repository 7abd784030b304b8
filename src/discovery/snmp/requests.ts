// What the readers of this folder want of a session: one question at a time, and an answer or why there is none. No
// I/O.

import type { SnmpFailure } from "./failure.ts";

export interface Question {
  readonly kind: "Get" | "GetNext" | "GetBulk";
  /** Dotted. */
  readonly oids: readonly string[];
  /** Of GetBulk: rows wanted. All OIDs repeat. */
  readonly maxRepetitions?: number;
}

export interface Varbind {
  readonly oid: string;
  /** VARBIND_TYPE. */
  readonly type: number;
  /** As net-snmp decodes it: number, string of an OID or address, Buffer, null for none. */
  readonly value: unknown;
}

/** What the agent said; of GetBulk row by row. Neither its OIDs nor its length need be what was asked for. */
export interface AgentReply {
  readonly varbinds: readonly Varbind[];
  /** ERROR_STATUS; 0 for none. */
  readonly errorStatus: number;
  /** Which OID of the question, from 1; 0 and anything else says nothing. */
  readonly errorIndex: number;
  /** Size of the datagram. */
  readonly byteCount: number;
}

export interface SnmpRequester {
  /** Whether it knows GetBulk: v1 does not. */
  readonly hasBulk: boolean;
  /**
   * Asks, again where no answer comes, and gives up by itself after a bounded time. Never rejects. The one before must
   * have been answered.
   * @param signal aborted with an SnmpFailure as its reason, the answer is that failure; with any other, `cancelled`
   */
  ask(question: Question, signal: AbortSignal): Promise<AgentReply | SnmpFailure>;
  /** The same agent, waited for not much longer than its answers have taken so far. Shares the turn to ask. */
  briefly(): SnmpRequester;
  /** The same agent's context of one VLAN: community `public@10`, SNMPv3 context `vlan-10`. Shares the turn to ask. */
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
