// Coverage of the OpenAPI document's writes by the console's sources: every operation missing in the console is listed
// with a reason.

import { beforeAll, describe, expect, test } from "bun:test";
import { openApiDocument } from "../../src/http/documentation.ts";
import { createBareApp } from "../../src/registry/bare-app.ts";
import { type ConsoleCalls, callName, consoleCalls } from "../support/source/console-calls.ts";

/** Writes without a use in the console, by `operationId`. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  writeHosts: "For programs: people bring many hosts in as a table, with its plan.",
  assignTags: "Tags are a field of each record's form, which is saved over the version that it was begun on.",
  updateBinding: "A binding is no more than its two ends: one is taken away, and another made.",
  importBindings: "Bindings have no list of their own: the table of services says where each of them listens.",
  deleteBindings: "Those of a service are few, and taken away one by one where they stand.",
  liftIgnored: "Those that are marked are lifted together, and one alone is marked alone.",
  deleteApiKeys: "What cannot be undone is done one by one, each with its name in the question.",
  deleteUsers: "What cannot be undone is done one by one, each with its name in the question.",
  deleteCredentials: "What cannot be undone is done one by one, each with its name in the question.",
};

/** Reads that no page shows. */
const UNREAD: Readonly<Record<string, string>> = {
  followScan: "A page follows the feed of changes, one connection for all tabs, and asks for a scan again.",
  getMapPositions: "The topology tells where each device stands.",
  getBackup: "The list tells all of each.",
  getLedgerVerification: "The list tells all of each.",
  getBinding: "They are told with their service.",
  getIgnored: "The list tells all of each.",
  getApiKey: "The list tells all of each.",
  getUser: "The list tells all of each.",
};

/** Calls that an expression's type admits but the API lacks: no page offers them. */
const NOT_THERE: readonly string[] = [
  "POST /api/v1/custom-fields/bulk-update",
  "POST /api/v1/discovery/schedules/bulk-update",
  "POST /api/v1/markers/bulk-update",
];

describe("console and API", () => {
  let asked: ConsoleCalls;
  /** `operationId` by call name. */
  const writes = new Map<string, string>();
  const reads = new Map<string, string>();

  beforeAll(async () => {
    asked = await consoleCalls();
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
    expect(missing(writes, asked.calls).toSorted()).toEqual(Object.keys(LEFT_OUT).toSorted());
  });

  test("every read of the API is used by some page, or exempt for a stated reason", () => {
    // Tables are offered as exports by URL, not by a call.
    const unread = missing(reads, asked.reads).filter((operation) => !operation.startsWith("export"));
    expect(unread.toSorted()).toEqual(Object.keys(UNREAD).toSorted());
  });

  test("the console calls nothing outside the API", () => {
    const unheard = [...asked.calls].filter((call) => !writes.has(call));
    expect(unheard.toSorted()).toEqual([...NOT_THERE]);
  });

  test("the path of each write is determined by types, and none is unreachable", () => {
    expect(asked.unknown).toEqual([]);
    expect(asked.unused).toEqual([]);
  });
});
