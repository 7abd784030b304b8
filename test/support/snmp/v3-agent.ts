// SNMPv3 agent for tests: net-snmp for message security, the tests' own responder for the content.

import { createAgent, type User } from "net-snmp";
import { type AgentFaults, ignoreSocketError, Responder } from "./agent.ts";
import { BER, BerReader, integer, octets, oid, tlv } from "./ber.ts";
import type { SnmpView } from "./view.ts";

interface V3AgentOptions {
  readonly address?: string;
  readonly users: readonly User[];
  /** View of each context; "" is the default one. */
  readonly contexts: Readonly<Record<string, SnmpView | (() => SnmpView)>>;
  readonly faults?: V3Faults;
}

export interface V3Faults extends AgentFaults {
  /** Responds to every request, including engine discovery, with a Report of this counter. */
  report?: { readonly oid: string; readonly boots: number; readonly time: number };
}

export interface V3Agent {
  readonly address: string;
  readonly port: number;
  readonly faults: V3Faults;
  /** Received datagrams. */
  readonly datagramCount: number;
  readonly responder: Responder;
  close(): void;
}

/** SHA-1 and AES-128, with the passwords of `user("ann")`. */
export const ann: User = {
  ...{ name: "ann", level: 3 },
  ...{ authProtocol: 3, authKey: "authpass123", privProtocol: 4, privKey: "privpass123" },
};

export const REPORT = {
  unsupportedSecurityLevel: "1.3.6.1.6.3.15.1.1.1.0",
  notInTimeWindow: "1.3.6.1.6.3.15.1.1.2.0",
  unknownUserName: "1.3.6.1.6.3.15.1.1.3.0",
  unknownEngineId: "1.3.6.1.6.3.15.1.1.4.0",
  wrongDigest: "1.3.6.1.6.3.15.1.1.5.0",
  decryptionError: "1.3.6.1.6.3.15.1.1.6.0",
  unknownContext: "1.3.6.1.6.3.12.1.5.0",
} as const;

/** Opens the socket; `close` frees it. Reports a wrong password (RFC 3414 §3.2) and ignores a wrong privacy key. */
export async function startV3Agent(options: V3AgentOptions): Promise<V3Agent> {
  const faults: V3Faults = options.faults ?? {};
  const responder = new Responder({ communities: options.contexts }, faults);
  let datagramCount = 0;
  let receive = (_datagram: Buffer, _peer: { address: string; port: number }): void => {};
  let current: { datagram: Uint8Array; peer: { address: string; port: number } } | null = null;
  const socket = await Bun.udpSocket({
    hostname: options.address ?? "127.0.0.1",
    port: 0,
    socket: {
      error: ignoreSocketError,
      data: (_socket, datagram, port, address) => {
        datagramCount += 1;
        current = { datagram, peer: { address, port } };
        if (faults.report === undefined) receive(datagram, current.peer);
        else socket.send(reportTo(datagram, agent.engine.engineID, faults.report), port, address);
      },
    },
  });
  const facade = {
    on: (event: string, handler: typeof receive) => {
      if (event === "message") receive = handler;
    },
    bind: () => {},
    close: () => {},
    send: (
      datagram: Buffer,
      offset: number,
      length: number,
      port: number,
      address: string,
      callback: (error: null) => void,
    ) => {
      const payload = datagram.subarray(offset, offset + length);
      const altered = faults.alter === undefined ? payload : faults.alter(payload, current?.datagram ?? payload);
      for (const message of altered === null ? [] : altered instanceof Uint8Array ? [altered] : altered)
        socket.send(message, port, address);
      callback(null);
    },
  };
  const agent = createAgent(
    { dgramModule: { createSocket: () => facade } },
    (error: (Error & { code?: number }) | null) => {
      if (error?.code === AUTH_FAILURE && current !== null)
        socket.send(
          reportTo(current.datagram, agent.engine.engineID, { oid: REPORT.wrongDigest, boots: 1, time: 10 }),
          current.peer.port,
          current.peer.address,
        );
    },
  ) as NetSnmpAgent;
  for (const user of options.users) agent.authorizer.addUser(user);
  agent.engine.engineBoots = 1;
  const respond = (from: unknown, message: NetSnmpMessage, peer: unknown): void => {
    const { pdu } = message;
    const contextName = pdu.contextName ?? "";
    if (responder.view(contextName) === null) {
      const report = message.createReportResponseMessage(agent.engine, contextName);
      report.pdu.varbinds = [{ oid: REPORT.unknownContext, type: BER.Counter32, value: 1 }];
      agent.listener.send(report, peer, from);
      return;
    }
    const bytes = responder.pduOf({
      version: 3,
      community: contextName,
      pduType: pdu.type,
      requestId: pdu.id,
      first: pdu.nonRepeaters,
      second: pdu.maxRepetitions,
      oids: pdu.varbinds.map((varbind) => oid(varbind.oid)),
    });
    if (bytes === null) return;
    const response = pdu.getResponsePduForRequest();
    response.toBuffer = (writer) => writer.writeBuffer(Buffer.from(bytes));
    agent.sendResponse(from, peer, message, response);
  };
  agent.getRequest = respond;
  agent.getNextRequest = respond;
  agent.getBulkRequest = respond;
  // net-snmp would forward a request with a context as a proxy.
  agent.onProxyRequest = respond;
  return {
    address: socket.hostname,
    port: socket.port,
    faults,
    get datagramCount() {
      return datagramCount;
    },
    responder,
    close: () => socket.close(),
  };
}

/** ResponseInvalidCode.EAuthFailure. */
const AUTH_FAILURE = 5;

interface NetSnmpPdu {
  readonly type: number;
  readonly id: number;
  readonly nonRepeaters: number;
  readonly maxRepetitions: number;
  readonly contextName?: string;
  varbinds: { oid: string; type?: number; value?: unknown }[];
  getResponsePduForRequest(): NetSnmpPdu;
  toBuffer: (writer: { writeBuffer(bytes: Buffer): void }) => void;
}

interface NetSnmpMessage {
  readonly pdu: NetSnmpPdu;
  createReportResponseMessage(engine: unknown, contextName: string): NetSnmpMessage;
}

type RequestHandler = (from: unknown, message: NetSnmpMessage, peer: unknown) => void;

interface NetSnmpAgent {
  readonly engine: { readonly engineID: Buffer; engineBoots: number };
  readonly authorizer: { addUser(user: User): void };
  readonly listener: { send(message: NetSnmpMessage, peer: unknown, from: unknown): void };
  getRequest: RequestHandler;
  getNextRequest: RequestHandler;
  getBulkRequest: RequestHandler;
  onProxyRequest: RequestHandler;
  sendResponse(from: unknown, peer: unknown, message: NetSnmpMessage, response: NetSnmpPdu): void;
}

/** Report without security (RFC 3414 §3.2) in response to a message. */
function reportTo(request: Uint8Array, engineId: Uint8Array, report: NonNullable<V3Faults["report"]>): Uint8Array {
  const message = new BerReader(request).inside();
  message.content();
  const messageId = message.inside().integer();
  const header = tlv(BER.Sequence, integer(messageId), integer(65_507), octets(Uint8Array.of(0)), integer(3));
  const security = tlv(
    BER.Sequence,
    octets(engineId),
    integer(report.boots),
    integer(report.time),
    octets(""),
    octets(""),
    octets(""),
  );
  const varbind = tlv(BER.Sequence, oid(report.oid), integer(1, BER.Counter32));
  const pdu = tlv(0xa8, integer(messageId), integer(0), integer(0), tlv(BER.Sequence, varbind));
  return tlv(BER.Sequence, integer(3), header, octets(security), tlv(BER.Sequence, octets(engineId), octets(""), pdu));
}
