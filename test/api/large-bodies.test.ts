// Records in large bodies: passed to the writer as bytes, with the same result as small ones.

import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { LARGE_BODY_BYTES } from "../../src/http/body-checks.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { type JsonRecord, tcp } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, handle, newApiKey, newHost, tick } = appliance;
let hostId: string;
let key: string;

beforeEach(async () => {
  hostId = (await newHost({ name: "core" })).id;
  ({ key } = newApiKey());
});

const ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001";
const RENAMED = "renamed";
const SNMP = { type: "SnmpV2c", community: { mode: "Inline", value: "s3cret" } };

interface RecordCase {
  readonly path: string;
  /** Field with the record's name. */
  readonly name: string;
  /** Body of the POST, and of the repeated PUT. */
  readonly body: () => JsonRecord;
  /** Fields that differ from the body in a PUT that changes nothing. */
  readonly sentBack?: JsonRecord;
  /** Field that a PUT does not accept. */
  readonly fixed?: string;
}

const RECORDS: readonly RecordCase[] = [
  {
    path: "hosts",
    name: "name",
    body: () => ({ network_id: first.networkId, name: "edge", hidden: false, tags: [], ports: [tcp(22)] }),
    fixed: "network_id",
  },
  {
    path: "if-entries",
    name: "if_alias",
    body: () => ({ host_id: hostId, if_index: 1, if_descr: "1", if_alias: "uplink", fdb_macs: ["00:1b:21:00:00:07"] }),
  },
  {
    path: "services",
    name: "name",
    body: () => ({ host_id: hostId, name: "names", service_definition: "DNS", tags: [] }),
  },
  {
    path: "credentials",
    name: "name",
    body: () => ({
      organization_id: first.organizationId,
      name: "read",
      credential_type: SNMP,
      tags: [],
      assigned_network_ids: [],
      host_assignments: [{ host_id: hostId }],
    }),
    // A secret is set whenever sent.
    sentBack: { credential_type: { ...SNMP, community: { mode: "Inline", value: "********" } } },
  },
];

interface SendOptions {
  readonly isLarge: boolean;
  readonly headers?: Record<string, string>;
}

/** Leading whitespace makes a body large without changing its content. */
function send(
  method: string,
  path: string,
  body: JsonRecord,
  { isLarge, headers = {} }: SendOptions,
): Promise<Response> {
  tick();
  const request = {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: " ".repeat(isLarge ? LARGE_BODY_BYTES : 0) + JSON.stringify(body),
  };
  return handle(new Request(`http://localhost/api/v1/${path}`, request));
}

test.each(RECORDS)("a large body of $path is passed to the writer as bytes, with the same result", async (record) => {
  const { path, name, body, sentBack = {}, fixed = "" } = record;
  const run = spyOn(appliance.writes, "run");
  const sentAsBytes: boolean[] = [];
  const write = async (method: string, to: string, fields: JsonRecord, isLarge: boolean): Promise<JsonRecord> => {
    run.mockClear();
    const response = await send(method, to, fields, { isLarge });
    const { data, error } = (await response.json()) as JsonRecord;
    expect([response.status, error]).toEqual([200, undefined]);
    const receivedBody = (run.mock.calls.at(-1)?.[1] as { body: unknown } | undefined)?.body;
    sentAsBytes.push(receivedBody instanceof Uint8Array && receivedBody.buffer instanceof SharedArrayBuffer);
    return data;
  };
  const { [fixed]: _fixed, ...update }: JsonRecord = { ...body(), ...sentBack };
  const created = await write("POST", path, { id: ID, ...body() }, true);
  expect(created).toMatchObject({ id: ID, [name]: body()[name] });
  // An equal body writes nothing.
  expect(await write("PUT", `${path}/${ID}`, { id: ID, ...update }, false)).toEqual(created);
  const changed = await write("PUT", `${path}/${ID}`, { id: ID, ...update, [name]: RENAMED }, true);
  const { updated_at, valid_from } = changed;
  expect(changed).toEqual({ ...created, [name]: RENAMED, updated_at, valid_from });
  expect(await write("PUT", `${path}/${ID}`, { id: ID, ...update, [name]: RENAMED }, false)).toEqual(changed);
  expect(sentAsBytes).toEqual([true, false, true, false]);
});

describe("a large body", () => {
  const host = () => (RECORDS[0] as RecordCase).body();

  test("has the same idempotency hash as an equal small one", async () => {
    const headers = { "idempotency-key": "large-1" };
    const first = await send("POST", "hosts", host(), { isLarge: true, headers });
    const created = await first.json();
    const repeated = await send("POST", "hosts", host(), { isLarge: false, headers });
    expect([first.status, repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([200, 200, "true"]);
    expect(await repeated.json()).toEqual(created);
    const reused = await send("POST", "hosts", { ...host(), name: "another" }, { isLarge: true, headers });
    expect([reused.status, ((await reused.json()) as JsonRecord).code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("is refused like a small one: for its shape, and by the writer for its references", async () => {
    const refusals = [{ hiden: true }, { ports: [tcp(70_000)] }, { tags: [ID] }];
    for (const fields of refusals) {
      const errorParams = async (isLarge: boolean) => {
        const response = await send("POST", "hosts", { ...host(), ...fields }, { isLarge });
        expect(response.status).toBeGreaterThanOrEqual(400);
        return ((await response.json()) as JsonRecord).params;
      };
      expect(await errorParams(true)).toEqual(await errorParams(false));
    }
  });
});
