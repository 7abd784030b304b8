// Coverage of the OpenAPI document by the console: it uses every operation, or the exemption is listed here with a
// reason.

import { beforeAll, describe, expect, test } from "bun:test";
import { openApiDocument } from "../../src/http/documentation.ts";
import { createBareApp } from "../../src/registry/bare-app.ts";
import { type ConsoleCalls, callName, consoleCalls } from "../support/source/console-calls.ts";

/** Writes that the console does not use, by `operationId`. */
const UNUSED_WRITES: Readonly<Record<string, string>> = {
  writeHosts: "For API clients: users import many hosts as a table, with a plan.",
  assignTags: "Tags are a field of each record's form, which is saved against the version it started from.",
  updateBinding: "A binding consists of its two ends: one is deleted and another created.",
  importBindings: "Bindings have no separate list: the table of services has their listening endpoints.",
  deleteBindings: "A service has few bindings, which are deleted individually on its page.",
  liftIgnored: "Selected entries are lifted in bulk, including a single one.",
  deleteApiKeys: "Deletions that cannot be undone are confirmed individually, by name.",
  deleteUsers: "Deletions that cannot be undone are confirmed individually, by name.",
  deleteCredentials: "Deletions that cannot be undone are confirmed individually, by name.",
};

/** Reads that no page shows. */
const UNUSED_READS: Readonly<Record<string, string>> = {
  followScan: "Pages follow the change feed, one connection for all tabs, and reload the scan.",
  getMapPositions: "The topology includes the position of each device.",
  getBackup: "The list includes every field.",
  getLedgerVerification: "The list includes every field.",
  getBinding: "Bindings are included in their service.",
  getComponent: "The list includes every field.",
  getIgnored: "The list includes every field.",
  getApiKey: "The list includes every field.",
  getUser: "The list includes every field.",
};

/** Calls that an expression's type admits but the API lacks: no page offers them. */
const MISSING_OPERATIONS: readonly string[] = [
  "POST /api/v1/custom-fields/bulk-update",
  "POST /api/v1/discovery/schedules/bulk-update",
  "POST /api/v1/markers/bulk-update",
];

describe("console and API", () => {
  let usage: ConsoleCalls;
  /** `operationId` by call name. */
  const writes = new Map<string, string>();
  const reads = new Map<string, string>();

  beforeAll(async () => {
    usage = await consoleCalls();
    const { paths } = JSON.parse(await openApiDocument(createBareApp().app)) as {
      readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
    };
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { operationId }] of Object.entries(methods))
        (method === "get" ? reads : writes).set(callName(method, path), operationId);
  });

  const missing = (operations: ReadonlyMap<string, string>, calls: ReadonlySet<string>) =>
    [...operations].filter(([call]) => !calls.has(call)).map(([, operationId]) => operationId);

  test("every write of the API is used by some page, or exempt for a stated reason", () => {
    expect(missing(writes, usage.calls).toSorted()).toEqual(Object.keys(UNUSED_WRITES).toSorted());
  });

  test("every read of the API is used by some page, or exempt for a stated reason", () => {
    // Tables are offered as exports by URL, not by a call.
    const unread = missing(reads, usage.reads).filter((operation) => !operation.startsWith("export"));
    expect(unread.toSorted()).toEqual(Object.keys(UNUSED_READS).toSorted());
  });

  test("the console calls nothing outside the API", () => {
    const unknownCalls = [...usage.calls].filter((call) => !writes.has(call));
    expect(unknownCalls.toSorted()).toEqual([...MISSING_OPERATIONS]);
  });

  test("the path of each write is determined by types, and none is unreachable", () => {
    expect(usage.unknown).toEqual([]);
    expect(usage.unused).toEqual([]);
  });
});
