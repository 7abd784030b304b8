// In-memory SNMP agent without a network: replies from a table of values or from a function that the test supplies.

import { failure, isFailure, type SnmpFailure } from "../../../src/discovery/snmp/failure.ts";
import type { AgentReply, SnmpRequest, SnmpRequester, Varbind } from "../../../src/discovery/snmp/requests.ts";

/** Type and value of a varbind, as net-snmp decodes it. */
export type Served = readonly [type: number, value: unknown];

export interface ViewOptions {
  readonly hasBulk?: boolean;
  /** Maximum varbinds per reply; the rest is omitted. */
  readonly maxVarbinds?: number;
  /** Intercepts each request; its return value is the reply. */
  readonly before?: (request: SnmpRequest, count: number, isBrief: boolean) => AgentReply | SnmpFailure | undefined;
  /** Requesters by VLAN. */
  readonly vlans?: Readonly<Record<number, SnmpRequester>>;
}

interface FakeRequester extends SnmpRequester {
  readonly requests: readonly SnmpRequest[];
}

/** Serves values by dotted OID in numeric order. */
export function fakeRequester(served: Readonly<Record<string, Served>>, options: ViewOptions = {}): FakeRequester {
  const oids = Object.keys(served).sort(naiveOrder);
  const positions = new Map(oids.map((oid, index) => [oid, index]));
  const requests: SnmpRequest[] = [];
  const varbindAt = (oid: string): Varbind => {
    const [type, value] = served[oid] as Served;
    return { oid, type, value };
  };
  const nextAfter = (oid: string): Varbind => {
    const position = positions.get(oid);
    const next = position === undefined ? oids.find((other) => naiveOrder(other, oid) > 0) : oids[position + 1];
    return next === undefined ? { oid, type: 130, value: null } : varbindAt(next);
  };
  const respond = (request: SnmpRequest): AgentReply => {
    if (request.kind === "Get")
      return replyOf(
        request.oids.map((oid) => (served[oid] === undefined ? { oid, type: 128, value: null } : varbindAt(oid))),
      );
    const varbinds: Varbind[] = [];
    let row = request.oids.map(nextAfter);
    for (let count = request.kind === "GetBulk" ? (request.maxRepetitions ?? 0) : 1; count > 0; count -= 1) {
      varbinds.push(...row);
      row = row.map((varbind) => (varbind.type === 130 ? varbind : nextAfter(varbind.oid)));
    }
    const atEnd = varbinds.findIndex((varbind) => varbind.type === 130);
    if (options.hasBulk === false && atEnd !== -1) return { ...replyOf([]), errorStatus: 2, errorIndex: atEnd + 1 };
    return replyOf(varbinds.slice(0, options.maxVarbinds));
  };
  const view = (isBrief: boolean): FakeRequester => ({
    hasBulk: options.hasBulk ?? true,
    requests,
    request: async (request, signal) => {
      if (signal.aborted) return isFailure(signal.reason) ? signal.reason : failure("cancelled");
      requests.push(request);
      return options.before?.(request, requests.length, isBrief) ?? respond(request);
    },
    withBriefTimeout: () => view(true),
    inVlan: (vlan) => options.vlans?.[vlan] ?? fakeRequester({}, options),
  });
  return view(false);
}

export function replyOf(varbinds: readonly Varbind[], byteCount = 60 + varbinds.length * 40): AgentReply {
  return { varbinds, errorStatus: 0, errorIndex: 0, byteCount };
}

export function errorOf(errorStatus: number, errorIndex: number): AgentReply {
  return { ...replyOf([]), errorStatus, errorIndex };
}

/** Numeric order of OIDs. */
export function naiveOrder(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (const [index, number] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (number !== other) return number - other;
  }
  return left.length - right.length;
}
