// Record labels: equal in a diff and in the plan of a restore.

import { expect, test } from "bun:test";
import type { RecordBase } from "../../src/db/kind.ts";
import { subjectOf } from "../../src/history/restore/plan.ts";
import { KINDS } from "../../src/records/resources.ts";
import { recordLabel } from "../../src/resources/record-label.ts";

const DOCUMENTS: Array<[string, Record<string, unknown>, string]> = [
  ["vlan", { number: 10, name: "office" }, "10 office"],
  ["user", { email: "ann@example.net", name: "Ann" }, "ann@example.net"],
  ["binding", { type: "Port" }, "Port"],
  ["fdb_entry", { mac_address: "aa:bb:cc:dd:ee:ff" }, "aa:bb:cc:dd:ee:ff"],
  ["if_entry", { if_name: "Gi0/1", if_descr: "GigabitEthernet0/1" }, "Gi0/1"],
  ["if_entry", { if_name: "", if_descr: "GigabitEthernet0/1" }, "GigabitEthernet0/1"],
  ["ip_address", { ip_address: "10.0.0.1", name: "uplink" }, "10.0.0.1"],
  ["port", { number: 22, protocol: "Tcp" }, "22/Tcp"],
  ["subnet", { cidr: "10.0.0.0/8", name: "all" }, "10.0.0.0/8"],
  ["host", { name: "switch" }, "switch"],
  ["schedule", { name: "Night" }, "Night"],
  ["ignored", { label: "printer-7", entity: "host" }, "printer-7"],
];

function labels(kindName: string, document: Record<string, unknown>): { inPlan: string | undefined; inDiff: string } {
  const kind = KINDS.find((candidate) => candidate.name === kindName);
  if (kind === undefined) throw new Error(`no kind ${kindName}`);
  const record = { id: "the id", ...document };
  return { inPlan: subjectOf(kind, record as unknown as RecordBase).name, inDiff: recordLabel(kind, record) };
}

test.each(DOCUMENTS)("%s %j is labeled %s", (kind, document, name) => {
  expect(labels(kind, document)).toEqual({ inPlan: name, inDiff: name });
});

test("a record without a name has its id as label in a diff, but none in a plan, where the id is listed separately", () => {
  for (const [kind, document] of [
    ["host", { name: "" }],
    ["credential_assignment", {}],
  ] as const)
    expect(labels(kind, document)).toEqual({ inPlan: undefined, inDiff: "the id" });
});
