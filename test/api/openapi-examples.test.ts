// Examples of the OpenAPI document, sent in sequence, verbatim except for the ids of the organization, network and
// user: each gets its documented response, all operations are covered, and writes carry a reason and report their
// sequence.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { pascalCase } from "../../src/base/text.ts";
import { EDITABLE, IMPORTABLE } from "../../src/bulk/written-resources.ts";
import { CONFLICT_EXAMPLE } from "../../src/reports/conflicts/conflict-schema.ts";
import { IGNORED_EXAMPLE } from "../../src/resources/ignored/ignored.ts";
import { newUnclaimedAppliance, SETUP_TOKEN, type UnclaimedAppliance } from "../support/appliance/appliance.ts";
import type { ApiResponse, Client } from "../support/appliance/client.ts";
import { newComponent } from "../support/appliance/factories.ts";
import { CREATABLE } from "../support/contract/example-bodies.ts";
import { type DocumentedOperation, OpenApiDocument } from "../support/contract/openapi.ts";

type Any = any;

/** Ids in the examples of records that exist beforehand. */
const PREEXISTING_IDS = {
  organization: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  network: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002",
  user: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007",
};
/** Time between two requests: restores in the examples go back by an hour. */
const STEP_MS = 2 * 3_600_000;

/** In dependency order; each kind is changed before another one refers to it. */
const KINDS = CREATABLE.map(({ kind }) => pascalCase(kind.name));

/** Kinds whose deleted records can't be restored, with replacements that turn an example into another record. */
const REPLACEMENTS: Record<string, [string, string][]> = {
  ApiKey: [["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0008", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0048"]],
  User: [
    ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0009", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0049"],
    ["night@example.net", "day@example.net"],
  ],
  Credential: [["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0006", "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0046"]],
};

let appliance: UnclaimedAppliance;
let api: OpenApiDocument;
let client: Client;
const substitutes = new Map<string, string>();
const sent = new Map<string, string>();

beforeAll(async () => {
  appliance = newUnclaimedAppliance();
  api = await OpenApiDocument.of(appliance.handle);
  client = appliance.anonymous;
});
afterAll(() => appliance.close());

/**
 * Operations that wrote to the ledger, those whose reason is missing in the transaction, and those whose response
 * names another transaction.
 */
const writeOperations = new Set<string>();
const withoutReason: string[] = [];
const wrongSequence: string[] = [];
/** Omits those of accepted conflicts, which are not shown: the acceptance itself has the reason. */
const transactionsAfter = (sequence: number) =>
  appliance.reader.db
    .query(
      `SELECT actor_type, reason, sequence FROM history_transactions
       WHERE sequence > ? AND source NOT LIKE 'conflict.%' ORDER BY sequence`,
    )
    .values(sequence) as Array<[actor: string, reason: string | null, sequence: number]>;

const idOf = (documented: DocumentedOperation) => documented.operation.operationId as string;

function operationById(operationId: string): DocumentedOperation {
  const found = api.operations.find((operation) => idOf(operation) === operationId);
  if (found === undefined) throw new Error(`unknown operation ${operationId}`);
  return found;
}

/** Sends the example of an operation. @param path path parameters assigned by the appliance */
async function send(operationId: string, path: Record<string, string | number> = {}): Promise<ApiResponse> {
  const documented = operationById(operationId);
  const operation = documented.operation as Any;
  const substitute = (text: string) => [...substitutes].reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const parameters = operation.parameters.filter(({ name }: Any) => name !== undefined);
  const url = documented.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name] ?? parameters.find((parameter: Any) => parameter.name === name)?.example;
    if (value === undefined) throw new Error(`${operationId}: the parameter ${name} has no example`);
    return String(value);
  });
  const query = parameters.flatMap(({ in: location, name, example }: Any) =>
    location === "query" && example !== undefined ? [`${name}=${encodeURIComponent(example)}`] : [],
  );
  const [[type, { example }] = ["", { example: undefined }]] = Object.entries<Any>(
    operation.requestBody?.content ?? {},
  );
  if (operation.requestBody !== undefined && example === undefined)
    throw new Error(`${operationId}: the body has no example`);
  const before = appliance.reader.snapshot(() => appliance.reader.head().sequence);
  const response = await client.send(
    documented.method,
    substitute(url + (query.length === 0 ? "" : `?${query.join("&")}`)),
    example === undefined
      ? documented.method === "POST"
        ? ""
        : undefined
      : substitute(type === "text/csv" ? example : JSON.stringify(example)),
    { "x-change-reason": operationId, ...(type === "" ? {} : { "content-type": type }) },
  );
  const written = transactionsAfter(before).filter(([actor]) => actor !== "Discovery");
  for (const [, reason] of written) {
    writeOperations.add(operationId);
    if (reason !== operationId) withoutReason.push(`${operationId}: ${reason}`);
  }
  const reportedSequence = response.headers.get("x-transaction-sequence");
  if (reportedSequence !== (written.at(-1)?.[2].toString() ?? null))
    wrongSequence.push(`${operationId}: ${reportedSequence}, not ${written.at(-1)?.[2]}`);
  sent.set(
    operationId,
    `${operationId} ${response.status} ${response.status === 200 ? "" : response.text.slice(0, 400)}`.trim(),
  );
  return response;
}

const plural = (kind: string) => ({ IfEntry: "IfEntries", IpAddress: "IpAddresses" })[kind] ?? `${kind}s`;

test("the examples work in sequence", async () => {
  await send("getSetup");
  substitutes.set("7K3M-0QXZ-V9T2-H4RC-8WJP-5NDF-1BGY", SETUP_TOKEN);
  const claimed = await send("setUp");
  substitutes
    .set(PREEXISTING_IDS.organization, claimed.data.organization_id)
    .set(PREEXISTING_IDS.network, claimed.data.network_id)
    .set(PREEXISTING_IDS.user, claimed.data.user.id);
  const signedIn = await send("signIn");
  client = client.with({ cookie: signedIn.headers.get("set-cookie")?.split(";")[0] as string });

  for (const kind of KINDS) {
    await send(`create${kind}`);
    await send(`update${kind}`);
  }
  for (const operationId of [
    ..."updateOrganization writeHosts assignTags addTagToRecords removeTagFromRecords confirmIpAddress".split(" "),
    ..."checkIpAddress tryCredential allocateFromSubnet splitHost consolidateHosts rotateApiKey".split(" "),
    "setMapPositions",
  ])
    await send(operationId);
  for (const writes of IMPORTABLE) {
    const kinds = pascalCase(writes.resource.kind.plural);
    if (EDITABLE.includes(writes)) await send(`update${kinds}`);
    await send(`import${kinds}`);
  }
  const self = await send("discoverSelf");
  const scan = await send("createScan");
  const backup = await send("createBackup");
  const verification = await send("createLedgerVerification");
  await send("cancelLedgerVerification", { id: verification.data.id });
  expect((await client.delete(`hosts/${self.data.host_id}?cascade=true`)).status).toBe(200);
  // The example's record is also that of another kind.
  substitutes.set(IGNORED_EXAMPLE.record_id, self.data.host_id);
  const { data: ignored } = await send("ignoreRecord");
  substitutes.delete(IGNORED_EXAMPLE.record_id);
  // The examples contain no conflict, so another host gets the address of the first.
  const otherHost = await client.post("hosts", {
    network_id: claimed.data.network_id,
    name: "printer-2",
    ip_addresses: [{ ip_address: CONFLICT_EXAMPLE.value }],
  });
  const component = newComponent(appliance, otherHost.data);
  const conflicts = await send("listConflicts");
  substitutes.set(CONFLICT_EXAMPLE.fingerprint, conflicts.data[0]?.fingerprint);
  const acceptance = await send("acceptConflict");
  const pathParameters: Record<string, Record<string, string>> = {
    "/conflicts/acceptances/{id}": { id: acceptance.data?.id },
    "/discovery/scans/{id}": { id: scan.data.id },
    "/discovery/ignored/{id}": { id: ignored?.id },
    "/components/{id}": { id: component.id },
    "/backups/{name}": { name: backup.data.name },
    "/ledger/verifications/{id}": { id: verification.data.id },
  };
  const pathOf = (path: string) => Object.entries(pathParameters).find(([part]) => path.includes(part))?.[1] ?? {};

  for (const listed of api.operations)
    if (listed.method === "GET" && !sent.has(idOf(listed))) await send(idOf(listed), pathOf(listed.path));
  // The first one has ended by now.
  const queued = await send("createScan");
  await send("withdrawConflictAcceptance", { id: acceptance.data?.id });
  await client.delete(`hosts/${otherHost.data.id}`);
  await send("cancelScan", { id: queued.data.id });
  await send("revertTransaction");

  appliance.clock.advance(STEP_MS);
  for (const kind of KINDS.toReversed()) {
    const replacements = REPLACEMENTS[kind];
    if (replacements !== undefined) await send(`restore${kind}`);
    await send(`delete${kind}`);
    if (replacements === undefined) await send(`restore${kind}`);
    else {
      for (const [from, to] of replacements) substitutes.set(from, to);
      await send(`create${kind}`);
      await send(`update${kind}`);
    }
    await send(`delete${plural(kind)}`);
  }
  const ids = pathOf("/discovery/ignored/{id}");
  substitutes.set("01936f2e-0d5c-7d3a-9a39-3f6f1f7a0018", ids.id as string);
  for (const operationId of ["liftIgnored", "restoreIgnored", "liftManyIgnored"]) await send(operationId, ids);
  const { email, password } = (operationById("signIn").operation as Any).requestBody.content["application/json"]
    .example;
  expect((await appliance.anonymous.post("/api/auth/login", { email, password })).status).toBe(200);
  const sessions = (await client.get("/api/auth/sessions")).data as Array<{ id: string; is_current: boolean }>;
  await send("setPreferences");
  await send("getPreferences");
  await send("endSession", { id: sessions.find(({ is_current }) => !is_current)?.id as string });
  await send("endOtherSessions");
  await send("downloadBackup", { name: backup.data.name });
  await send("verifyBackup", { name: backup.data.name });
  await send("deleteBackup", { name: backup.data.name });
  await send("changePassword");
  await send("signOut");

  expect([...sent.values()].filter((line) => !line.endsWith(" 200"))).toEqual([]);
  expect(api.operations.map(idOf).filter((operationId) => !sent.has(operationId))).toEqual([]);
  const takesReason = ({ operation }: DocumentedOperation) =>
    (operation as Any).parameters.some(({ $ref }: Any) => $ref === "#/components/parameters/ChangeReason");
  expect(withoutReason).toEqual([]);
  expect(wrongSequence).toEqual([]);
  const withReasonParameter = new Set(api.operations.filter(takesReason).map(idOf));
  expect([...writeOperations].filter((operationId) => !withReasonParameter.has(operationId))).toEqual([]);
  expect(writeOperations.size).toBeGreaterThan(60);
});
