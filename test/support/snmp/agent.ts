// SNMP agent for tests and benchmarks: v1 and v2c on one UDP socket, with configurable data and faults. No v3, no SET.

import { systemTimers } from "../../../src/base/timers.ts";
import { BER, BerReader, headOf, integer, oidContent, tlv } from "./ber.ts";
import { emptyVarbind, oidKey, SnmpView } from "./view.ts";

/** Maximum datagram on Ethernet: GETBULK responses are truncated to it, others become tooBig. */
const DEFAULT_MAX_DATAGRAM_BYTES = 1_472;

export interface AgentOptions {
  /** `127.16.x.y` needs no configuration; IPv6 addresses work as well. */
  readonly address?: string;
  /** 0 selects a free port. */
  readonly port?: number;
  /** View of each community, created on first use. Other communities get no response. */
  readonly communities: Readonly<Record<string, SnmpView | (() => SnmpView)>>;
  readonly versions?: readonly ("SnmpV1" | "SnmpV2c")[];
  readonly maxDatagramBytes?: number;
  readonly faults?: AgentFaults;
}

/** Read on every request: a test may change them while the agent runs. */
export interface AgentFaults {
  isSilent?: boolean;
  /** Number of requests to ignore before responding. */
  dropFirst?: number;
  /** Delay of every response. */
  delayMs?: number;
  /** Number of varbinds after which it stops responding. */
  silentAfterVarbinds?: number;
  /** Does not respond to requests for objects below this OID. */
  silentBelow?: string;
  /** Does not respond to a GETBULK for more varbinds than this, like a device that fails on large ones. */
  silentAboveVarbinds?: number;
  /** Responses with more varbinds are tooBig, including GETBULK. */
  tooBigAboveVarbinds?: number;
  /**
   * An OID at which GET, GETNEXT and GETBULK fail with this status (5 is genErr, 6 noAccess, 16 authorizationError).
   */
  errorAt?: { readonly oid: string; readonly status: number; readonly hasIndex?: boolean };
  /** Overrides the successor of the first OID with the second: the same OID to loop, an earlier one to go back. */
  following?: { readonly oid: string; readonly next: string };
  /** Responses carry a wrong request ID. */
  hasOtherRequestId?: boolean;
  /** Replaces the OID element of every varbind in a response. */
  otherOid?: Uint8Array;
  /** Alters the encoded response, replaces it with any bytes, or suppresses it. */
  alter?: (response: Uint8Array, request: Uint8Array) => Uint8Array | readonly Uint8Array[] | null;
  /** Source address of responses, if different. */
  responseAddress?: string;
}

export interface SnmpAgent {
  readonly address: string;
  readonly port: number;
  readonly faults: AgentFaults;
  /** Received datagrams, well-formed or not. */
  readonly requestCount: number;
  /** Varbinds sent. */
  readonly varbindCount: number;
  readonly requests: readonly RecordedRequest[];
  /** Replaces the view of a community. */
  serve(community: string, view: SnmpView): void;
  close(): void;
}

interface RecordedRequest {
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
  let responseSocket: Bun.udp.Socket<"buffer"> | null = null;
  const isIpv6 = address.includes(":");
  if (faults.responseAddress !== undefined)
    responseSocket = await Bun.udpSocket({
      hostname: faults.responseAddress,
      port: 0,
      socket: { error: ignoreSocketError },
    });
  const socket = await Bun.udpSocket({
    hostname: address,
    port: options.port ?? 0,
    socket: {
      error: ignoreSocketError,
      data: (from, request, port, peer) => {
        const response = responder.respond(request);
        if (response === null) return;
        const altered = faults.alter === undefined ? response : faults.alter(response, request);
        if (altered === null) return;
        const send = (): void => {
          const sender = responseSocket ?? from;
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
      responseSocket?.close();
    },
  };
}

/** Ignores that a peer has disconnected or is not listening: Bun throws without a handler. */
export function ignoreSocketError(): void {}

const MAX_RECORDED_REQUESTS = 10_000;

/** Decoded request of any SNMP version. */
interface AgentRequest {
  /** 0, 1 or 3, as in the message. */
  readonly version: number;
  /** The context name in version 3. */
  readonly community: string;
  readonly pduType: number;
  readonly requestId: number;
  /** For GETBULK: non-repeaters and max-repetitions. */
  readonly first: number;
  readonly second: number;
  /** Whole OID elements. */
  readonly oids: readonly Uint8Array[];
}

interface ResponseError {
  readonly status: number;
  readonly index: number;
}

/** Responses of an agent, without the enclosing message. */
export class Responder {
  requestCount = 0;
  varbindCount = 0;
  readonly requests: RecordedRequest[] = [];
  private readonly options: Omit<AgentOptions, "address" | "port" | "faults">;
  private readonly faults: AgentFaults;
  private readonly views = new Map<string, SnmpView>();
  private readonly maxBytes: number;

  constructor(options: Omit<AgentOptions, "address" | "port" | "faults">, faults: AgentFaults) {
    this.options = options;
    this.faults = faults;
    this.maxBytes = options.maxDatagramBytes ?? DEFAULT_MAX_DATAGRAM_BYTES;
  }

  /** Response to a datagram of version 1 or 2c; null for none. */
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

  /** PDU of the response; null for no response. */
  pduOf(request: AgentRequest): Uint8Array | null {
    const faults = this.faults;
    this.requestCount += 1;
    if (faults.isSilent === true || this.requestCount <= (faults.dropFirst ?? 0)) return null;
    if (this.requests.length < MAX_RECORDED_REQUESTS) {
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
    const silentKey = faults.silentBelow === undefined ? null : oidKey(oidContent(faults.silentBelow));
    if (silentKey !== null && request.oids.some((element) => keyOf(element).startsWith(silentKey))) return null;
    const requestedCount = request.pduType === PDU.GetBulk ? request.oids.length * request.second : request.oids.length;
    if (requestedCount > (faults.silentAboveVarbinds ?? Number.POSITIVE_INFINITY)) return null;

    const varbinds: Uint8Array[] = [];
    let error: ResponseError | null =
      requestedCount > (faults.tooBigAboveVarbinds ?? Number.POSITIVE_INFINITY)
        ? { status: ERROR_STATUS.tooBig, index: 0 }
        : null;
    error ??= request.pduType === PDU.Get ? this.get(view, request, varbinds) : this.following(view, request, varbinds);
    this.varbindCount += error === null ? varbinds.length : 0;
    return this.encode(request, varbinds, error);
  }

  /** Replaces the view of a community. */
  serve(community: string, view: SnmpView): void {
    this.views.set(community, view);
  }

  /** View of a community or context; null for an unknown one. */
  view(community: string): SnmpView | null {
    const existing = this.views.get(community);
    if (existing !== undefined) return existing;
    const source = Object.hasOwn(this.options.communities, community) ? this.options.communities[community] : undefined;
    if (source === undefined) return null;
    const view = source instanceof SnmpView ? source : source();
    this.views.set(community, view);
    return view;
  }

  private get(view: SnmpView, request: AgentRequest, varbinds: Uint8Array[]): ResponseError | null {
    for (const [index, element] of request.oids.entries()) {
      const key = keyOf(element);
      const fault = this.faultAt(key, index);
      if (fault !== null) return fault;
      const position = view.find(key);
      const isServed = position !== -1 && !(request.version === 0 && view.tag(position) === BER.Counter64);
      if (!isServed && request.version === 0) return { status: ERROR_STATUS.noSuchName, index: index + 1 };
      varbinds.push(isServed ? view.varbind(position) : emptyVarbind(element, BER.NoSuchObject));
    }
    return this.sizeOf(varbinds) > this.maxBytes ? { status: ERROR_STATUS.tooBig, index: 0 } : null;
  }

  /** Responds to GETNEXT, and to GETBULK (RFC 3416 §4.2.3) with as many rows as fit. */
  private following(view: SnmpView, request: AgentRequest, varbinds: Uint8Array[]): ResponseError | null {
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
        const fault = isServed ? this.faultAt(view.key(cursor.position), index) : null;
        if (fault !== null) return fault;
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

  private faultAt(key: string, index: number): ResponseError | null {
    const { errorAt } = this.faults;
    if (errorAt === undefined || !key.startsWith(dottedKey(errorAt.oid))) return null;
    return { status: errorAt.status, index: errorAt.hasIndex === false ? 0 : index + 1 };
  }

  private sizeOf(varbinds: readonly Uint8Array[]): number {
    return varbinds.reduce((size, varbind) => size + varbind.length, ENVELOPE_BYTES);
  }

  private encode(request: AgentRequest, varbinds: readonly Uint8Array[], error: ResponseError | null): Uint8Array {
    const faults = this.faults;
    let served = error === null ? varbinds : request.oids.map((element) => emptyVarbind(element, BER.Null));
    if (faults.otherOid !== undefined)
      served = served.map((varbind) => withOid(varbind, faults.otherOid as Uint8Array));
    let size = 0;
    for (const varbind of served) size += varbind.length;
    const requestId = request.requestId + (faults.hasOtherRequestId === true ? 1 : 0);
    const status = integer(error?.status ?? 0);
    const index = integer(error?.index ?? 0);
    const id = integer(requestId);
    const list = headOf(BER.Sequence, size);
    const contents = id.length + status.length + index.length + list.length + size;
    const head = headOf(PDU.Response, contents);
    const bytes = new Uint8Array(head.length + contents);
    let offset = 0;
    for (const part of [head, id, status, index, list, ...served]) {
      bytes.set(part, offset);
      offset += part.length;
    }
    return bytes;
  }
}

/** Upper bound for the size of the message around its varbinds. */
const ENVELOPE_BYTES = 64;

const keys = new Map<string, string>();

function dottedKey(dotted: string): string {
  const existing = keys.get(dotted);
  if (existing !== undefined) return existing;
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
