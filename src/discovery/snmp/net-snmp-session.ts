// net-snmp session over an external socket, with workarounds for its bugs: encodes, decodes and handles SNMPv3
// security. Does not wait or retry.

import { SecurityLevel, Session, type User, Version1, Version2c, Version3 } from "net-snmp";
import type { SnmpCredential } from "./credential.ts";
import type { Varbind } from "./requests.ts";

interface ResponsePdu {
  readonly id: number;
  readonly varbinds: readonly Varbind[];
  readonly errorStatus: number;
  readonly errorIndex: number;
}

export type ResponseCallback = (error: Error | null, pdu: ResponsePdu) => void;

/** The part of net-snmp 3.29 in use: its methods, and fields missing in its declared type. */
export interface NetSnmp {
  readonly version: number;
  /** For requests from now on. */
  community: string;
  /** For requests from now on. */
  context: string;
  /** Number of requests awaiting a response. */
  readonly reqCount: number;
  /** SNMPv3 only, once the engine is known. */
  readonly msgSecurityParameters?: {
    readonly msgAuthoritativeEngineID?: Uint8Array;
    readonly msgAuthoritativeEngineBoots?: number;
    readonly msgAuthoritativeEngineTime?: number;
  };
  get(oids: string[], callback: ResponseCallback): void;
  getNext(oids: string[], callback: ResponseCallback): void;
  getBulk(oids: string[], nonRepeaters: number, maxRepetitions: number, callback: ResponseCallback): void;
  cancelRequests(error: Error): void;
  /** Throws on some decodable datagrams that it does not expect. */
  onMsg(datagram: Buffer): void;
  /** A datagram that cannot be decoded. */
  on(event: "error", listener: () => void): void;
  onSimpleGetResponse: (request: SentRequest, message: ReceivedMessage) => void;
}

/**
 * @param user for SNMPv3
 * @param send sends a datagram; first calls `register`, which makes net-snmp await the response, or calls neither if
 * nothing is sent. net-snmp's own way, a callback after the send, may run after the response arrived.
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
    // Its own retries all fire together, and a response to the first attempt does not count for the second.
    retries: 0,
    timeout: NEVER_MS,
  };
  const snmp = new Session(
    "",
    (user ?? (credential as { community?: string }).community ?? "") as string,
    options as object,
  ) as unknown as NetSnmp;
  const flags = flagsOf(user);
  // The built-in version hides the error index, accepts responses without the request's protection, and copies the
  // varbinds.
  snmp.onSimpleGetResponse = (request, message) => {
    const isExpected =
      message.pdu.id === request.message.pdu.id && ((message.msgGlobalData?.msgFlags ?? 0) & AUTH_AND_PRIV) === flags;
    request.responseCb(isExpected ? null : new Error("the response does not match the request"), message.pdu);
  };
  return snmp;
}

interface SentRequest {
  readonly message: { readonly pdu: { readonly id: number } };
  readonly responseCb: ResponseCallback;
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

/** Maximum of setTimeout. */
const NEVER_MS = 2 ** 31 - 1;
