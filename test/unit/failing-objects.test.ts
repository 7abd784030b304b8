// Imports with an object on which the importer fails: that object is rejected, and all others are imported.

import { afterEach, expect, spyOn, test } from "bun:test";
import { systemTimers } from "../../src/base/timers.ts";
import { ImportRun } from "../../src/importers/import-run.ts";
import { importSource } from "../../src/importers/import-source.ts";
import type { ImportSource } from "../../src/importers/imported-objects.ts";
import { JsonClient, RemoteError } from "../../src/importers/json-client.ts";
import { Ledger } from "../../src/importers/ledger.ts";
import { LocalChanges } from "../../src/importers/local-changes.ts";
import { Netbox } from "../../src/importers/netbox/netbox.ts";
import { NetboxCustomFields } from "../../src/importers/netbox/netbox-custom-fields.ts";
import { Phpipam } from "../../src/importers/phpipam/phpipam.ts";
import { PhpipamCustomFields } from "../../src/importers/phpipam/phpipam-custom-fields.ts";
import { ImportPlan } from "../../src/importers/plan.ts";
import { SecretMask } from "../../src/importers/secret-mask.ts";
import { emptyFixture, serveNetbox } from "../support/imports/fake-netbox.ts";
import { PHPIPAM_APP, servePhpipam } from "../support/imports/fake-phpipam.ts";

const TOKEN = "0123456789abcdef0123456789abcdef01234567";
const common = { ca: null, timers: systemTimers, secrets: new SecretMask([]) };
const spies: Array<{ mockRestore(): void }> = [];
const servers: Array<{ stop(): Promise<unknown> }> = [];
afterEach(async () => {
  for (const spy of spies.splice(0)) spy.mockRestore();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A source with one site or section, with objects named "broken" among others. */
async function netbox(): Promise<ImportSource> {
  const custom = { broken: true };
  const fixture = emptyFixture();
  fixture.sites = [{ id: 1, name: "Berlin" }];
  fixture.vlans = [
    { id: 1, vid: 1, name: "sound", site: 1 },
    { id: 2, vid: 2, name: "broken", site: 1, custom },
  ];
  fixture.prefixes = [
    { id: 1, prefix: "10.0.0.0/24", site: 1 },
    { id: 2, prefix: "10.1.0.0/24", site: 1, custom },
  ];
  const soundInterface = { id: 1, name: "eth0" };
  const brokenInterface = { id: 2, name: "eth1", custom };
  fixture.devices = [
    { id: 1, name: "sound", site: 1, interfaces: [soundInterface, brokenInterface] },
    { id: 2, name: "broken", site: 1, custom },
  ];
  fixture.addresses = [
    { id: 1, address: "10.0.0.1/24" },
    { id: 2, address: "10.0.0.2/24", custom },
  ];
  const server = serveNetbox(fixture, { token: TOKEN });
  servers.push(server);
  const { valuesOf } = NetboxCustomFields.prototype;
  const spy = spyOn(NetboxCustomFields.prototype, "valuesOf");
  spies.push(spy);
  spy.mockImplementation(function (this: NetboxCustomFields, object, kind) {
    if ((object.custom_fields as { broken?: boolean }).broken === true) throw new TypeError("broken object");
    return valuesOf.call(this, object, kind);
  });
  return Netbox.open({ ...common, base: server.url, token: TOKEN }, server.url);
}

async function phpipam(): Promise<ImportSource> {
  const custom_x = "broken";
  const server = servePhpipam(
    {
      sections: [{ id: "1", name: "Berlin" }],
      subnets: [
        { id: "1", subnet: "10.0.0.0", mask: "24", sectionId: "1" },
        { id: "2", subnet: "10.1.0.0", mask: "24", sectionId: "1", custom_x },
      ],
      vlans: [
        { vlanId: "1", number: "1", name: "sound" },
        { vlanId: "2", number: "2", name: "broken", custom_x },
      ],
      devices: [
        { id: "1", hostname: "sound", sections: "1" },
        { id: "2", hostname: "broken", sections: "1", custom_x },
      ],
      addresses: [
        { id: "1", subnetId: "1", ip: "10.0.0.1", deviceId: "0" },
        { id: "2", subnetId: "1", ip: "10.0.0.2", deviceId: "0", custom_x },
      ],
      tags: [],
      locations: [],
    },
    TOKEN,
  );
  servers.push(server);
  const { valuesOf } = PhpipamCustomFields.prototype;
  const spy = spyOn(PhpipamCustomFields.prototype, "valuesOf");
  spies.push(spy);
  spy.mockImplementation(function (this: PhpipamCustomFields, object, kind) {
    if (object.custom_x === "broken") throw new TypeError("broken object");
    return valuesOf.call(this, object, kind);
  });
  return Phpipam.open({ ...common, base: server.url, appId: PHPIPAM_APP, token: TOKEN }, server.url);
}

/** Dry run of an import into an empty netledger. */
function newImport(source: ImportSource): ImportRun {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ success: true, data: [], meta: { api_version: 1, pagination: { total_count: 0 } } }),
  });
  servers.push(server);
  const client = new JsonClient({ ...common, product: "netledger", base: server.url.origin, headers: {} });
  const ledger = new Ledger(client, { reason: "r", isDryRun: true, run: "1" });
  return new ImportRun({
    source,
    ledger,
    plan: new ImportPlan(true),
    localChanges: new LocalChanges(ledger, source.reason),
    options: { defaultNetwork: "Rest", overwrites: false, progress: () => {}, flush: async () => {} },
    isRepeated: false,
  });
}

const countsOf = ({ plan }: ImportRun) =>
  Object.fromEntries(
    (["VLANs", "subnets", "hosts", "interfaces", "ranges"] as const).map((kind) => [
      kind,
      [plan.count(kind, "created"), plan.count(kind, "refused")],
    ]),
  );

test.each([
  ["NetBox", netbox, { VLANs: [1, 1], subnets: [1, 1], hosts: [1, 1], interfaces: [1, 1], ranges: [1, 1] }],
  ["phpIPAM", phpipam, { VLANs: [1, 1], subnets: [1, 1], hosts: [1, 1], interfaces: [0, 0], ranges: [1, 1] }],
])("unreadable objects of a %s are refused individually", async (_product, open, expected) => {
  const importRun = newImport(await open());
  await importSource(importRun);
  expect(countsOf(importRun)).toEqual(expected as ReturnType<typeof countsOf>);
  const lines = importRun.plan.takeLines().split("\n");
  const refused = lines.filter((line) => line.startsWith("refused "));
  for (const line of refused) expect(line).toMatch(/\/2\/: cannot be imported: TypeError: broken object$/);
});

test("unwritable objects are refused, and an unreachable server ends the import", async () => {
  const source = await netbox();
  for (const spy of spies.splice(0)) spy.mockRestore();
  const importRun = newImport(source);
  const customValues = importRun.customValues.bind(importRun);
  let calls = 0;
  importRun.customValues = (kind, values, refuse) => {
    calls += 1;
    if (calls % 2 === 0) throw new RangeError("too far");
    return customValues(kind, values, refuse);
  };
  await importSource(importRun);
  expect(countsOf(importRun)).toMatchObject({ VLANs: [1, 1], subnets: [1, 1], hosts: [1, 1], ranges: [1, 1] });
  importRun.customValues = () => {
    throw new RemoteError("gone");
  };
  expect(importSource(importRun)).rejects.toThrow(new RemoteError("gone"));
});
