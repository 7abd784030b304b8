// Rejection of invisible names, and of look-alikes of unique names.

import { describe, expect, test } from "bun:test";
import { openWritable } from "../../src/db/connection.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord, refusal } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { startScan, first, newHost, newSubnet, newTag, owner, probes, waitForScan, versionsOf } = appliance;

/** Hangul fillers, the Braille blank, a grapheme joiner, a variation selector, and spaces in between. */
const INVISIBLE = ["\u3164", "\u115f", "\u2800", "\u034f", "\ufe0f", "\u200b", " \u3164 \u115f", "\u{e0001}\u2800"];
/** Visually equal. */
const CORE_LOOKALIKES = ["Core", "Core\u200b", "\u2060Core", "Co\u00adre", "Co\u3164re", "Core\ufe0f"];

const TAG = { color: "Blue" };

const taken = (field = "name") => refusal(409, "entity_already_exists", { field });

/** Kinds with a unique name in a scope, with a body. */
const UNIQUE: ReadonlyArray<[string, () => JsonRecord | Promise<JsonRecord>]> = [
  ["tags", () => TAG],
  ["networks", () => ({ organization_id: first.organizationId, tags: [] })],
  [
    "discovery/schedules",
    () => ({ network_id: first.networkId, cron: "0 3 * * *", timezone: "UTC", kind: "sweep", is_enabled: false }),
  ],
  ["markers", () => ({ organization_id: first.organizationId })],
  ["services", async () => ({ host_id: (await newHost({})).id, service_definition: "http", bindings: [], tags: [] })],
];

describe("an invisible name", () => {
  test.each(UNIQUE)("is refused for %s, on create and on rename", async (plural, fields) => {
    const rest = await fields();
    const record = await expectOk(owner.post(plural, { ...rest, name: "Core" }));
    for (const name of INVISIBLE)
      for (const response of [
        await owner.post(plural, { ...rest, name }),
        await owner.put(`${plural}/${record.id}`, { ...record, name }),
      ])
        expect(response).toMatchObject(refusal(400, "validation_failed", { issues: [{ path: "/name" }] }));
    expect(versionsOf(record.id)).toHaveLength(1);
  });

  test("is refused even if names need not be unique, and even in a table", async () => {
    for (const name of INVISIBLE) {
      const host = { name, network_id: first.networkId };
      for (const [path, body] of [
        ["hosts", host],
        ["hosts/bulk", [host]],
        ["auth/keys", { name, organization_id: first.organizationId, user_id: first.userId, permissions: "Viewer" }],
      ] as const)
        expect(await owner.post(path, body)).toMatchObject(refusal(400, "validation_failed"));
    }
    expect((await owner.get("hosts")).body.meta.pagination.total_count).toBe(0);
  });

  test("is rejected as a reason, a choice and a custom field's value", async () => {
    const reason = { "x-change-reason": `UTF-8''${encodeURIComponent("\u3164")}` };
    expect(await owner.post("tags", { ...TAG, name: "x" }, reason)).toMatchObject(refusal(400, "validation_failed"));
    const field = { key: "rack", kinds: ["host"], type: "choice" };
    expect(await owner.post("custom-fields", { ...field, choices: ["\u3164"] })).toMatchObject(
      refusal(400, "validation_failed"),
    );
    await expectOk(owner.post("custom-fields", { key: "note", kinds: ["host"], type: "text" }));
    const host = { name: "h", network_id: first.networkId, custom_fields: { note: " \u3164" } };
    expect(await owner.post("hosts", host)).toMatchObject(refusal(400, "validation_failed"));
  });

  test("is kept if it existed before, and can be changed", async () => {
    const tag = await newTag({ name: "named" });
    rename("tags", "named", "\u3164");
    expect((await owner.get(`tags/${tag.id}`)).data.name).toBe("\u3164");
    expect(await owner.put(`tags/${tag.id}`, { ...tag, name: "seen" })).toMatchObject({
      status: 200,
      data: { name: "seen" },
    });
  });
});

describe("look-alike names", () => {
  test.each(UNIQUE)("are limited to one for %s, whichever comes first", async (plural, fields) => {
    const rest = await fields();
    for (const name of CORE_LOOKALIKES) {
      const record = await expectOk(owner.post(plural, { ...rest, name }));
      for (const other of CORE_LOOKALIKES)
        expect([name, other, await owner.post(plural, { ...rest, name: other })]).toMatchObject([name, other, taken()]);
      const another = await expectOk(owner.post(plural, { ...rest, name: "Core 2" }));
      for (const other of CORE_LOOKALIKES)
        expect(await owner.put(`${plural}/${another.id}`, { ...another, name: other })).toMatchObject(taken());
      // A record may change the notation of its own name.
      await expectOk(owner.put(`${plural}/${record.id}`, { ...record, name: "Core\u200c" }));
      for (const { id } of [record, another]) await expectOk(owner.delete(`${plural}/${id}`));
    }
  });

  test("are limited to one e-mail address among users", async () => {
    const body = { password: "a phrase of their own", role: "Viewer" };
    await expectOk(owner.post("users", { ...body, email: "Night@example.net" }));
    for (const email of ["night\ufe0f@example.net", "ni\u115fght@EXAMPLE.net"])
      expect(await owner.post("users", { ...body, email })).toMatchObject(taken("email"));
  });

  test("are distinct if visibly different, in different networks or under different definitions", async () => {
    for (const name of ["Core", "Cor e", "core", "Córe", "\u{1f468}\u200d\u{1f469}", "\u{1f468}"])
      await newTag({ name });
    const host = await newHost({});
    for (const service_definition of ["http", "https"])
      for (const host_id of [host.id, (await newHost({})).id])
        await expectOk(
          owner.post("services", { host_id, name: "Web\u200b", service_definition, bindings: [], tags: [] }),
        );
  });

  test("are written at most once from a request or a table", async () => {
    const services = ["Web", "Web\u200b"].map((name) => ({ name, service_definition: "http", bindings: [] }));
    expect(await owner.post("hosts", { name: "h", network_id: first.networkId, services })).toMatchObject(taken());
    const table = "name,color\nCore,Blue\nCo\u00adre,Blue\nEdge,Blue\n";
    const importTags = (text: string) => owner.post("tags/import/csv", text, { "content-type": "text/csv" });
    const thirdRow = refusal(409, "entity_already_exists", { issues: [{ row: 3, column: "name" }] });
    expect(await importTags(table)).toMatchObject(thirdRow);
    expect((await owner.get("tags")).data).toEqual([]);
    await newTag({ name: "Edge\u200b" });
    expect(await importTags(table.replace("Co\u00adre,Blue\n", ""))).toMatchObject(thirdRow);
  });

  test("are not restored next to an existing one, and the plan reports that", async () => {
    const tag = await newTag({ name: "Core" });
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await expectOk(owner.delete(`tags/${tag.id}`));
    await newTag({ name: "Co\u00adre" });
    const plan = await owner.post(`tags/${tag.id}/restore`, { at, dry_run: true });
    expect(JSON.stringify(plan.body)).toContain("identity_taken");
    expect(await owner.post(`tags/${tag.id}/restore`, { at })).toMatchObject({ status: 409 });
  });

  test("stay if they exist, can be edited and renamed, and block new ones", async () => {
    const [core, otherTag] = [await newTag({ name: "Core" }), await newTag({ name: "Cores" })];
    rename("tags", "Cores", "Core\u200b");
    const lookalike = await expectOk(
      owner.put(`tags/${otherTag.id}`, { ...otherTag, name: "Core\u200b", description: "old" }),
    );
    expect(lookalike).toMatchObject({ name: "Core\u200b", description: "old" });
    await expectOk(owner.put(`tags/${core.id}`, { ...core, description: "the first" }));
    for (const name of CORE_LOOKALIKES) expect(await owner.post("tags", { ...TAG, name })).toMatchObject(taken());
    expect(await owner.put(`tags/${lookalike.id}`, { ...lookalike, name: "Core\u200c" })).toMatchObject(taken());
    await expectOk(owner.put(`tags/${lookalike.id}`, { ...lookalike, name: "Edge" }));
    expect(await owner.post("tags", { ...TAG, name: "Edge\u200b" })).toMatchObject(taken());
  });

  test("are limited to one choice of a custom field, apart from existing ones", async () => {
    const field = { key: "rack", kinds: ["host"], type: "choice" };
    expect(await owner.post("custom-fields", { ...field, choices: ["A", "A\u200b"] })).toMatchObject(
      refusal(400, "validation_failed", { issues: [{ path: "/choices/1" }] }),
    );
    const known = await expectOk(owner.post("custom-fields", { ...field, choices: ["A", "AB"] }));
    rename("custom_fields", '"AB"', '"A\u200b"');
    const withLookalikes = { ...known, choices: ["A", "A\u200b"] };
    await expectOk(owner.put(`custom-fields/${known.id}`, { ...withLookalikes, label: "Rack" }));
    expect(
      await owner.put(`custom-fields/${known.id}`, { ...withLookalikes, choices: ["A", "A\u200b", "A\u200c"] }),
    ).toMatchObject(refusal(400, "validation_failed", { issues: [{ path: "/choices/2" }] }));
  });
});

test("a scan matches a service to a look-alike of the observed name", async () => {
  await newSubnet({ cidr: "10.0.0.0/29" });
  const host = await newHost({ name: "printer", ip_addresses: [{ ip_address: "10.0.0.2" }] });
  await expectOk(
    owner.post("services", {
      host_id: host.id,
      name: "HTTP\u200b",
      service_definition: "http",
      bindings: [],
      tags: [],
    }),
  );
  probes.alive.set("10.0.0.2", {
    ports: {
      asked: [80],
      open: [{ number: 80, protocol: "Tcp", service: { name: "HTTP", service_definition: "http" } }],
    },
  });
  const { id } = await startScan({ kind: "sweep", targets: ["10.0.0.2"] });
  expect((await waitForScan(id)).status).toBe("Completed");
  const { services, ports } = (await owner.get(`hosts/${host.id}`)).data;
  expect(services.map(({ name, bindings }: JsonRecord) => [name, bindings[0]?.port_id])).toEqual([
    ["HTTP\u200b", ports[0].id],
  ]);
});

/** Changes a string in the live records of a kind without validation, like an earlier version. */
function rename(plural: string, from: string, to: string): void {
  const db = openWritable(appliance.databasePath);
  db.$client
    .query(`UPDATE ${plural} SET identity = replace(identity, ?1, ?2), members = replace(members, ?1, ?2)`)
    .run(from, to);
  db.$client.close();
}
