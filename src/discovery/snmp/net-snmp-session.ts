// A session of net-snmp over a socket that is not its own, with what it gets wrong put right: it encodes, decodes and
// keeps the security of SNMPv3. It waits for nothing and repeats nothing.

import { SecurityLevel, Session, type User, Version1, Version2c, Version3 } from "net-snmp";
import type { SnmpCredential } from "./credential.ts";
import type { Varbind } from "./requests.ts";

interface ResponsePdu {
  readonly id: number;
  readonly varbinds: readonly Varbind[];
  readonly errorStatus: number;
  readonly errorIndex: number;
}

export type Answered = (error: Error | null, pdu: ResponsePdu) => void;

/** What is used of net-snmp 3.29: its methods, and those of its fields that its declared type leaves out. */
export interface NetSnmp {
  readonly version: number;
  /** Of the requests from now on. */
  community: string;
  /** Of the requests from now on. */
  context: string;
  /** Requests that it has an answer to come for. */
  readonly reqCount: number;
  /** Of SNMPv3, once the engine is known. */
  readonly msgSecurityParameters?: {
    readonly msgAuthoritativeEngineID?: Uint8Array;
    readonly msgAuthoritativeEngineBoots?: number;
    readonly msgAuthoritativeEngineTime?: number;
  };
  get(oids: string[], answered: Answered): void;
  getNext(oids: string[], answered: Answered): void;
  getBulk(oids: string[], nonRepeaters: number, maxRepetitions: number, answered: Answered): void;
  cancelRequests(error: Error): void;
  /** Throws on some datagrams that can be decoded and are not what it reckons with. */
  onMsg(datagram: Buffer): void;
  /** A datagram that cannot be decoded. */
  on(event: "error", listener: () => void): void;
  onSimpleGetResponse: (request: SentRequest, message: ReceivedMessage) => void;
}

/**
 * @param user of SNMPv3
 * @param send sends a datagram; before it does, or not at all where it does not, it calls `register`, which has
 * net-snmp wait for the answer:
 *   net-snmp's own way, a callback once the datagram is sent, may come after the answer
 */
export function createNetSnmp(
  credential: SnmpCredential,
  user: User | null,
  send: (datagram: Uint8Array, register: () => void) => void,
): NetSnmp {
  const socket = {
    on: () => socket,
    ref: () => socket,
    unref: () => socket,
    bind: () => socket,
    close: () => socket,
    send: (
      datagram: Buffer,
      offset: number,
      length: number,
      _port: number,
      _address: string,
      sent: (error: null) => void,
    ) => send(datagram.subarray(offset, offset + length), () => sent(null)),
  };
  const options = {
    version: credential.version === "SnmpV1" ? Version1 : credential.version === "SnmpV2c" ? Version2c : Version3,
    dgramModule: { createSocket: () => socket },
    // Its own repetitions come all at the same moment, and it takes no answer to the first of two for one to the
    // second.
    retries: 0,
    timeout: NEVER_MS,
  };
  const snmp = new Session(
    "",
    (user ?? (credential as { community?: string }).community ?? "") as string,
    options as object,
  ) as unknown as NetSnmp;
  const flags = flagsOf(user);
  // Its own hides the error index, takes answers without the protection that the question had, and copies the varbinds.
  snmp.onSimpleGetResponse = (request, message) => {
    const isMeant =
      message.pdu.id === request.message.pdu.id && ((message.msgGlobalData?.msgFlags ?? 0) & AUTH_AND_PRIV) === flags;
    request.responseCb(isMeant ? null : new Error("not the answer to the question"), message.pdu);
  };
  return snmp;
}

interface SentRequest {
  readonly message: { readonly pdu: { readonly id: number } };
  readonly responseCb: Answered;
}

interface ReceivedMessage {
  readonly pdu: ResponsePdu;
  readonly msgGlobalData?: { readonly msgFlags: number };
}

/** Bits of msgFlags (RFC 3412 §6.4). */
const AUTH_AND_PRIV = 3;

function flagsOf(user: User | null): number {
  if (user === null || user.level === SecurityLevel.noAuthNoPriv) return 0;
  return user.level === SecurityLevel.authNoPriv ? 1 : AUTH_AND_PRIV;
}

/** As long as setTimeout can. */
const NEVER_MS = 2 ** 31 - 1;
