// In-memory agent for pure code: answers from a table of values or from a function of the test.

import { failure, isFailure, type SnmpFailure } from "../../../src/discovery/snmp/failure.ts";
import type { AgentReply, Question, SnmpRequester, Varbind } from "../../../src/discovery/snmp/requests.ts";

/** Type and value of a varbind, as net-snmp decodes it. */
export type Served = readonly [type: number, value: unknown];

export interface ViewOptions {
  readonly hasBulk?: boolean;
  /** Maximum varbinds per answer; the rest is omitted. */
  readonly maxVarbinds?: number;
  /** Intercepts each question; its return value is the answer. */
  readonly before?: (question: Question, count: number, isBrief: boolean) => AgentReply | SnmpFailure | undefined;
  /** By VLAN. */
  readonly vlans?: Readonly<Record<number, SnmpRequester>>;
}

interface AskingView extends SnmpRequester {
  readonly questions: readonly Question[];
}

/** Serves values by dotted OID in numeric order. */
export function askingView(served: Readonly<Record<string, Served>>, options: ViewOptions = {}): AskingView {
  const oids = Object.keys(served).sort(naiveOrder);
  const positions = new Map(oids.map((oid, index) => [oid, index]));
  const questions: Question[] = [];
  const varbindAt = (oid: string): Varbind => {
    const [type, value] = served[oid] as Served;
    return { oid, type, value };
  };
  const following = (oid: string): Varbind => {
    const at = positions.get(oid);
    const next = at === undefined ? oids.find((other) => naiveOrder(other, oid) > 0) : oids[at + 1];
    return next === undefined ? { oid, type: 130, value: null } : varbindAt(next);
  };
  const answer = (question: Question): AgentReply => {
    if (question.kind === "Get")
      return answerOf(
        question.oids.map((oid) => (served[oid] === undefined ? { oid, type: 128, value: null } : varbindAt(oid))),
      );
    const varbinds: Varbind[] = [];
    let row = question.oids.map(following);
    for (let count = question.kind === "GetBulk" ? (question.maxRepetitions ?? 0) : 1; count > 0; count -= 1) {
      varbinds.push(...row);
      row = row.map((varbind) => (varbind.type === 130 ? varbind : following(varbind.oid)));
    }
    const atEnd = varbinds.findIndex((varbind) => varbind.type === 130);
    if (options.hasBulk === false && atEnd !== -1) return { ...answerOf([]), errorStatus: 2, errorIndex: atEnd + 1 };
    return answerOf(varbinds.slice(0, options.maxVarbinds));
  };
  const view = (isBrief: boolean): AskingView => ({
    hasBulk: options.hasBulk ?? true,
    questions,
    ask: async (question, signal) => {
      if (signal.aborted) return isFailure(signal.reason) ? signal.reason : failure("cancelled");
      questions.push(question);
      return options.before?.(question, questions.length, isBrief) ?? answer(question);
    },
    briefly: () => view(true),
    inVlan: (vlan) => options.vlans?.[vlan] ?? askingView({}, options),
  });
  return view(false);
}

export function answerOf(varbinds: readonly Varbind[], byteCount = 60 + varbinds.length * 40): AgentReply {
  return { varbinds, errorStatus: 0, errorIndex: 0, byteCount };
}

export function errorOf(errorStatus: number, errorIndex: number): AgentReply {
  return { ...answerOf([]), errorStatus, errorIndex };
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
