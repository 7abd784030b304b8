// Appliance status through the API: machine, pending work, backups, verifications and their visibility. Also covers
// re-verifying a backup, and the bill of materials.

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../../src/operations/machine.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, clock, newHost, newUser, owner, renew } = appliance;

const PATH = "appliance";
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const state = async (): Promise<JsonRecord> => (await owner.get(PATH)).data;
const concerns = async (): Promise<string[]> => (await state()).concerns.map(({ code }: JsonRecord) => code);

/** Polls until the condition holds: every request lets running work continue. */
async function poll(path: string, condition: (data: JsonRecord) => boolean): Promise<JsonRecord> {
  for (;;) {
    const { data } = await owner.get(path);
    if (condition(data)) return data;
    await nextTurn();
  }
}

async function takeBackup(): Promise<JsonRecord> {
  const { data } = await owner.post("backups", {});
  return poll(`backups/${data.name}`, ({ state: current }) => current !== "Running");
}

const waitForVerification = (id: string) => poll(`ledger/verifications/${id}`, ({ status }) => status !== "Running");

describe("the status of the appliance", () => {
  test("covers the machine, the store and the clock", async () => {
    const machine: Machine = {
      disk: () => ({ sizeBytes: 1e12, freeBytes: 3e11 }),
      store: () => ({ databaseBytes: 7e6, logBytes: 90_000_000 }),
      memory: () => ({ processBytes: 4e8, totalBytes: null, availableBytes: null }),
      isClockSynchronized: () => null,
    };
    await renew({ upkeep: { machine } });
    const startedAt = (await state()).started_at;
    clock.advance(60_000);
    const { sequence, at } = appliance.reader.head();
    expect(sequence).toBeGreaterThan(0);
    expect(await state()).toMatchObject({
      started_at: startedAt,
      url: null,
      disk: { size_bytes: 1e12, free_bytes: 3e11 },
      store: { database_bytes: 7e6, log_bytes: 90_000_000, log_bound_bytes: 67_108_864 },
      memory: { process_bytes: 4e8, total_bytes: null, available_bytes: null },
      clock: { now: clock.text(), last_transaction_at: new Date(at).toISOString(), lead_ms: 0, is_synchronized: null },
      certificate: null,
      concerns: [{ code: "log_large", severity: "warning" }],
    });
    clock.advance(at - clock.now() - 5_000);
    expect(await state()).toMatchObject({ clock: { lead_ms: 5_000 } });
    expect(await concerns()).toContain("clock_ahead");
  });

  test("shows the certificate, but not its private key", async () => {
    const validTo = clock.now() + 20 * 86_400_000 + 1_000;
    const pair = {
      fingerprint: "AA:BB",
      subject: "CN=a",
      issuer: "CN=b",
      names: "DNS:a",
      validFrom: clock.now() - 1_000,
      validTo,
    };
    await renew({ upkeep: { served: () => ({ url: "https://a", certificate: { pair, isOwn: false } }) } });
    expect(await state()).toMatchObject({
      url: "https://a",
      certificate: {
        subject: "CN=a",
        issuer: "CN=b",
        is_own: false,
        names: "DNS:a",
        fingerprint: "AA:BB",
        not_after: new Date(validTo).toISOString(),
        days_left: 20,
      },
      concerns: [{ code: "certificate_expires", params: { days_left: 20 } }],
    });
  });

  test("warns of a missing backup once there is data, until one is taken, and again when it is old", async () => {
    expect(await concerns()).toEqual([]);
    await newHost();
    expect(await concerns()).toEqual(["backup_missing", "verification_missing"]);
    const backup = await takeBackup();
    expect(await concerns()).toEqual([]);
    expect(await state()).toMatchObject({
      backups: {
        count: 1,
        size_bytes: backup.size_bytes,
        last: { name: backup.name, created_at: backup.created_at, sequence: backup.sequence },
        failed: null,
        damaged: [],
      },
      ledger: { verified_at: backup.created_at, last_verification: null },
    });
    clock.advance(7 * 86_400_000);
    expect(await concerns()).toEqual(["backup_old"]);
  });

  test("counts error log lines of the last day", async () => {
    appliance.log.error("it_broke");
    appliance.log.warn("it_may_break");
    expect(await state()).toMatchObject({
      log: { errors: 1, last_error_at: clock.text() },
      concerns: [{ code: "errors_logged" }],
    });
    clock.advance(86_400_001);
    expect(await concerns()).toEqual([]);
  });

  test("requires an Owner's session, and a single organization", async () => {
    expect((await anonymous.get(PATH)).status).toBe(401);
    const admin = await newUser({ role: "Admin" });
    expect((await admin.client.get(PATH)).body.code).toBe("auth_permission_denied");
    await appliance.newOrganization("Second");
    expect((await owner.get(PATH)).body.code).toBe("auth_permission_denied");
  });
});

describe("a verified backup", () => {
  test("is reported as intact, separately from verifications of the database", async () => {
    await newHost();
    const { name, sequence, hash } = await takeBackup();
    await newHost();
    const started = await owner.post(`backups/${name}/verify`, {});
    expect(started.data).toMatchObject({ status: "Running", backup: name });
    expect(await waitForVerification(started.data.id)).toMatchObject({
      status: "Completed",
      is_sound: true,
      backup: name,
      head: { sequence, hash },
      not_checked: [],
    });
    expect((await owner.get(`ledger/verifications?filter=backup="${name}"`)).data).toHaveLength(1);
    expect((await state()).ledger.last_verification).toBeNull();
    expect((await owner.post("backups/netledger-20200101T000000000Z.db/verify", {})).body.code).toBe(
      "entity_not_found",
    );
  });

  test("is reported as damaged, and needs attention until it is deleted", async () => {
    await newHost({ name: "harvested-by-nobody" });
    const { name } = await takeBackup();
    const path = join(appliance.dataDirectory, "backups", name);
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    const offset = Buffer.from(bytes).lastIndexOf("harvested-by-nobody");
    expect(offset).toBeGreaterThan(0);
    bytes.set(new TextEncoder().encode("harvested-by-nobod1"), offset);
    writeFileSync(path, bytes);
    const { data } = await owner.post(`backups/${name}/verify`, {});
    const verification = await waitForVerification(data.id);
    expect(verification).toMatchObject({ status: "Completed", is_sound: false });
    expect(verification.findings_total).toBeGreaterThan(0);
    expect(await state()).toMatchObject({ backups: { damaged: [name] } });
    expect(await concerns()).toContain("backup_damaged");
    expect((await owner.delete(`backups/${name}`)).status).toBe(200);
    expect(await concerns()).not.toContain("backup_damaged");
  });
});

describe("the bill of materials", () => {
  test("is shown to every signed-in user, with the license texts", async () => {
    const viewer = await newUser({ role: "Viewer" });
    expect((await viewer.client.get("licences")).data).toMatchObject({
      components: [{ name: "netledger", licence: "Apache-2.0", part_of: ["server"], texts: [{ title: "LICENSE" }] }],
    });
    const bom = await viewer.client.get("bill-of-materials");
    expect(bom.headers.get("content-type")).toBe("application/vnd.cyclonedx+json");
    expect(bom.headers.get("content-disposition")).toContain("netledger.cdx.json");
    expect(JSON.parse(bom.text)).toMatchObject({ bomFormat: "CycloneDX" });
    expect((await anonymous.get("licences")).status).toBe(401);
  });

  test("is unavailable when running from source", async () => {
    await renew({ upkeep: { billOfMaterials: async () => null } });
    expect((await owner.get("licences")).body.code).toBe("entity_not_found");
    expect((await owner.get("bill-of-materials")).body.code).toBe("entity_not_found");
  });
});
