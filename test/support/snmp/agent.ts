// SNMP agent for tests and benchmarks: v1 and v2c on one UDP socket, with configurable data and faults. No v3, no SET.

import { systemTimers } from "../../../src/base/timers.ts";
import { BER, BerReader, headOf, integer, oidContent, tlv } from "./ber.ts";
import { emptyVarbind, oidKey, SnmpView } from "./view.ts";

/** Maximum datagram on Ethernet: GETBULK answers are truncated to it, others become tooBig. */
const DEFAULT_MAX_DATAGRAM_BYTES = 1_472;

export interface AgentOptions {
  /** `127.16.x.y` needs no configuration; IPv6 addresses work as well. */
  readonly address?: string;
  /** 0 selects a free port. */
  readonly port?: number;
  /** View of each community, created on first use. Other communities get no answer. */
  readonly communities: Readonly<Record<string, SnmpView | (() => SnmpView)>>;
  readonly versions?: readonly ("SnmpV1" | "SnmpV2c")[];
  readonly maxDatagramBytes?: number;
  readonly faults?: AgentFaults;
}

/** Read on every request: a test may change them while the agent runs. */
export interface AgentFaults {
  isSilent?: boolean;
  /** Number of requests to ignore before answering. */
  dropFirst?: number;
  /** Delay of every answer. */
  delayMs?: number;
  /** Number of varbinds after which it stops answering. */
  silentAfterVarbinds?: number;
  /** No answer to requests for objects below this OID. */
  silentBelow?: string;
  /** No answer to a GETBULK of more varbinds than this, like a device that fails on large ones. */
  silentAboveVarbinds?: number;
  /** Answers with more varbinds are tooBig, including GETBULK. */
  tooBigAboveVarbinds?: number;
  /**
   * An OID at which GET, GETNEXT and GETBULK fail with this status (5 is genErr, 6 noAccess, 16 authorizationError).
   */
  errorAt?: { readonly oid: string; readonly status: number; readonly hasIndex?: boolean };
  /** Overrides the successor of the first OID with the second: the same OID to loop, an earlier one to go back. */
  following?: { readonly oid: string; readonly next: string };
  /** Answers carry a wrong request id. */
  hasOtherRequestId?: boolean;
  /** OID element of every varbind in an answer. */
  otherOid?: Uint8Array;
  /** Alters the encoded answer, replaces it with any bytes, or suppresses it. */
  alter?: (answer: Uint8Array, request: Uint8Array) => Uint8Array | readonly Uint8Array[] | null;
  /** Source address of answers, if different. */
  answerFrom?: string;
}

export interface SnmpAgent {
  readonly address: string;
  readonly port: number;
  readonly faults: AgentFaults;
  /** Received datagrams, well-formed or not. */
  readonly requestCount: number;
  /** Varbinds sent. */
  readonly varbindCount: number;
  readonly requests: readonly RequestSeen[];
  /** Replaces the view of a community. */
  serve(community: string, view: SnmpView): void;
  close(): void;
}

interface RequestSeen {
  readonly pduType: number;
  readonly community: string;
  readonly requestId: number;
  readonly oidCount: number;
  readonly maxRepetitions: number;
}

const PDU = { Get: 0xa0, GetNext: 0xa1, Response: 0xa2, GetBulk: 0xa5 } as const;

const ERROR_STATUS = { tooBig: 1, noSuchName: 2, genErr: 5, noAccess: 6, authorizationError: 16 } as const;

/** Opens the socket; `close` frees it. Keeps the first 10,000 requests for tests. */
export async function startAgent(options: AgentOptions): Promise<SnmpAgent> {
  const address = options.address ?? "127.0.0.1";
  const faults: AgentFaults = options.faults ?? {};
  const responder = new Responder(options, faults);
  let other: Bun.udp.Socket<"buffer"> | null = null;
  const isIpv6 = address.includes(":");
  if (faults.answerFrom !== undefined)
    other = await Bun.udpSocket({ hostname: faults.answerFrom, port: 0, socket: { error: nobodyListens } });
  const socket = await Bun.udpSocket({
    hostname: address,
    port: options.port ?? 0,
    socket: {
      error: nobodyListens,
      data: (from, request, port, peer) => {
        const answer = responder.respond(request);
        if (answer === null) return;
        const altered = faults.alter === undefined ? answer : faults.alter(answer, request);
        if (altered === null) return;
        const send = (): void => {
          const sender = other ?? from;
          if (!sender.closed)
            for (const datagram of altered instanceof Uint8Array ? [altered] : altered)
              sender.send(datagram, port, peer);
        };
        if (faults.delayMs === undefined) send();
        else systemTimers.after(faults.delayMs, send);
      },
    },
  });
  return {
    address: isIpv6 ? address : socket.hostname,
    port: socket.port,
    faults,
    get requestCount() {
      return responder.requestCount;
    },
    get varbindCount() {
      return responder.varbindCount;
    },
    requests: responder.requests,
    serve: (community, view) => responder.serve(community, view),
    close: () => {
      socket.close();
      other?.close();
    },
  };
}

/** The peer is gone, or does not listen: irrelevant to an agent, but without a listener Bun throws. */
export function nobodyListens(): void {}

const REQUESTS_KEPT = 10_000;

/** Decoded request, of any SNMP version. */
interface AgentRequest {
  /** 0, 1 or 3, as in the message. */
  readonly version: number;
  /** In version 3 the context name. */
  readonly community: string;
  readonly pduType: number;
  readonly requestId: number;
  /** For GETBULK: non-repeaters and max-repetitions. */
  readonly first: number;
  readonly second: number;
  /** Whole OID elements. */
  readonly oids: readonly Uint8Array[];
}

interface Refusal {
  readonly status: number;
  readonly index: number;
}

/** Answers of an agent, without the enclosing message. */
export class Responder {
  requestCount = 0;
  varbindCount = 0;
  readonly requests: RequestSeen[] = [];
  private readonly options: Omit<AgentOptions, "address" | "port" | "faults">;
  private readonly faults: AgentFaults;
  private readonly views = new Map<string, SnmpView>();
  private readonly maxBytes: number;

  constructor(options: Omit<AgentOptions, "address" | "port" | "faults">, faults: AgentFaults) {
    this.options = options;
    this.faults = faults;
    this.maxBytes = options.maxDatagramBytes ?? DEFAULT_MAX_DATAGRAM_BYTES;
  }

  /** Answer to a datagram of version 1 or 2c; null for none. */
  respond(datagram: Uint8Array): Uint8Array | null {
    const request = readRequest(datagram);
    if (request === null) {
      this.requestCount += 1;
      return null;
    }
    const pdu = this.pduOf(request);
    return pdu === null
      ? null
      : tlv(BER.Sequence, integer(request.version), tlv(BER.OctetString, Buffer.from(request.community)), pdu);
  }

  /** PDU of the answer; null for no answer. */
  pduOf(request: AgentRequest): Uint8Array | null {
    const faults = this.faults;
    this.requestCount += 1;
    if (faults.isSilent === true || this.requestCount <= (faults.dropFirst ?? 0)) return null;
    if (this.requests.length < REQUESTS_KEPT) {
      const { pduType, community, requestId, oids, second } = request;
      this.requests.push({
        pduType,
        community,
        requestId,
        oidCount: oids.length,
        maxRepetitions: pduType === PDU.GetBulk ? second : 0,
      });
    }
    const versions = this.options.versions ?? ["SnmpV1", "SnmpV2c"];
    if (request.version < 3 && !versions.includes(request.version === 0 ? "SnmpV1" : "SnmpV2c")) return null;
    const view = this.view(request.community);
    if (view === null) return null;
    if (faults.silentAfterVarbinds !== undefined && this.varbindCount >= faults.silentAfterVarbinds) return null;
    const silent = faults.silentBelow === undefined ? null : oidKey(oidContent(faults.silentBelow));
    if (silent !== null && request.oids.some((element) => keyOf(element).startsWith(silent))) return null;
    const wanted = request.pduType === PDU.GetBulk ? request.oids.length * request.second : request.oids.length;
    if (wanted > (faults.silentAboveVarbinds ?? Number.POSITIVE_INFINITY)) return null;

    const varbinds: Uint8Array[] = [];
    let refusal: Refusal | null =
      wanted > (faults.tooBigAboveVarbinds ?? Number.POSITIVE_INFINITY)
        ? { status: ERROR_STATUS.tooBig, index: 0 }
        : null;
    refusal ??=
      request.pduType === PDU.Get ? this.get(view, request, varbinds) : this.following(view, request, varbinds);
    this.varbindCount += refusal === null ? varbinds.length : 0;
    return this.encode(request, varbinds, refusal);
  }

  /** Replaces the view of a community. */
  serve(community: string, view: SnmpView): void {
    this.views.set(community, view);
  }

  /** View of a community or context; null for an unknown one. */
  view(community: string): SnmpView | null {
    const known = this.views.get(community);
    if (known !== undefined) return known;
    const made = Object.hasOwn(this.options.communities, community) ? this.options.communities[community] : undefined;
    if (made === undefined) return null;
    const view = made instanceof SnmpView ? made : made();
    this.views.set(community, view);
    return view;
  }

  private get(view: SnmpView, request: AgentRequest, varbinds: Uint8Array[]): Refusal | null {
    for (const [index, element] of request.oids.entries()) {
      const key = keyOf(element);
      const failing = this.refusalAt(key, index);
      if (failing !== null) return failing;
      const position = view.find(key);
      const isServed = position !== -1 && !(request.version === 0 && view.tag(position) === BER.Counter64);
      if (!isServed && request.version === 0) return { status: ERROR_STATUS.noSuchName, index: index + 1 };
      varbinds.push(isServed ? view.varbind(position) : emptyVarbind(element, BER.NoSuchObject));
    }
    return this.sizeOf(varbinds) > this.maxBytes ? { status: ERROR_STATUS.tooBig, index: 0 } : null;
  }

  /** GETNEXT, and GETBULK (RFC 3416 §4.2.3) with as many rows as fit. */
  private following(view: SnmpView, request: AgentRequest, varbinds: Uint8Array[]): Refusal | null {
    const isBulk = request.pduType === PDU.GetBulk;
    const nonRepeaters = isBulk ? Math.min(request.first, request.oids.length) : request.oids.length;
    const cursors = request.oids.map((element) => ({
      element,
      position: this.next(view, keyOf(element), request.version),
    }));
    let size = ENVELOPE_BYTES;
    for (let row = 0; row < (isBulk ? Math.max(1, request.second) : 1); row += 1) {
      let isAtEnd = true;
      for (let index = row === 0 ? 0 : nonRepeaters; index < cursors.length; index += 1) {
        const cursor = cursors[index] as (typeof cursors)[number];
        if (row > 0)
          cursor.position =
            cursor.position >= view.size ? view.size : this.next(view, view.key(cursor.position), request.version);
        const isServed = cursor.position < view.size;
        if (!isServed && request.version === 0) return { status: ERROR_STATUS.noSuchName, index: index + 1 };
        const failing = isServed ? this.refusalAt(view.key(cursor.position), index) : null;
        if (failing !== null) return failing;
        const varbind = isServed
          ? view.varbind(cursor.position)
          : emptyVarbind(row === 0 ? cursor.element : lastOid(view), BER.EndOfMibView);
        if (isServed) isAtEnd = false;
        size += varbind.length;
        if (size > this.maxBytes) {
          if (isBulk && varbinds.length > 0) return null;
          return { status: ERROR_STATUS.tooBig, index: 0 };
        }
        varbinds.push(varbind);
      }
      if (isAtEnd) return null;
    }
    return null;
  }

  private next(view: SnmpView, key: string, version: number): number {
    const { following } = this.faults;
    if (following !== undefined && key === dottedKey(following.oid)) return view.find(dottedKey(following.next));
    let position = view.findNext(key);
    // RFC 3584 §4.2.2.1: version 1 skips Counter64.
    while (version === 0 && position < view.size && view.tag(position) === BER.Counter64) position += 1;
    return position;
  }

  private refusalAt(key: string, index: number): Refusal | null {
    const { errorAt } = this.faults;
    if (errorAt === undefined || !key.startsWith(dottedKey(errorAt.oid))) return null;
    return { status: errorAt.status, index: errorAt.hasIndex === false ? 0 : index + 1 };
  }

  private sizeOf(varbinds: readonly Uint8Array[]): number {
    return varbinds.reduce((size, varbind) => size + varbind.length, ENVELOPE_BYTES);
  }

  private encode(request: AgentRequest, varbinds: readonly Uint8Array[], refusal: Refusal | null): Uint8Array {
    const faults = this.faults;
    let served = refusal === null ? varbinds : request.oids.map((element) => emptyVarbind(element, BER.Null));
    if (faults.otherOid !== undefined)
      served = served.map((varbind) => withOid(varbind, faults.otherOid as Uint8Array));
    let size = 0;
    for (const varbind of served) size += varbind.length;
    const requestId = request.requestId + (faults.hasOtherRequestId === true ? 1 : 0);
    const status = integer(refusal?.status ?? 0);
    const index = integer(refusal?.index ?? 0);
    const id = integer(requestId);
    const list = headOf(BER.Sequence, size);
    const contents = id.length + status.length + index.length + list.length + size;
    const head = headOf(PDU.Response, contents);
    const bytes = new Uint8Array(head.length + contents);
    let at = 0;
    for (const part of [head, id, status, index, list, ...served]) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

/** Upper bound of the message around its varbinds. */
const ENVELOPE_BYTES = 64;

const keys = new Map<string, string>();

function dottedKey(dotted: string): string {
  const known = keys.get(dotted);
  if (known !== undefined) return known;
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const key = [first * 40 + second, ...rest].map((part) => String.fromCharCode(part / 65_536, part & 0xffff)).join("");
  keys.set(dotted, key);
  return key;
}

function keyOf(element: Uint8Array): string {
  return oidKey(element.subarray(2));
}

function lastOid(view: SnmpView): Uint8Array {
  return new BerReader(view.varbind(view.size - 1)).inside().element();
}

function withOid(varbind: Uint8Array, element: Uint8Array): Uint8Array {
  const inside = new BerReader(varbind).inside();
  inside.element();
  return tlv(BER.Sequence, element, inside.element());
}

/** Null unless the bytes are a request of version 1 or 2c. */
function readRequest(datagram: Uint8Array): AgentRequest | null {
  try {
    const message = new BerReader(datagram).inside();
    const version = message.integer();
    if (version !== 0 && version !== 1) return null;
    const community = message.text();
    const pduType = message.tag;
    const pdu = message.inside();
    const [requestId, first, second] = [pdu.integer(), pdu.integer(), pdu.integer()];
    const list = pdu.inside();
    const oids: Uint8Array[] = [];
    while (!list.isAtEnd) oids.push(list.inside().element());
    return { version, community, pduType, requestId, first, second, oids };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
