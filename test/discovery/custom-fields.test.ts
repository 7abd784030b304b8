// Scans and custom fields: defaults for discovered records, and no changes to manual values.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { owner, tick } = appliance;
const scan = new ScanWriter(appliance);

const KINDS = ["host", "subnet", "vlan", "if_entry", "service"];
const PATHS = ["hosts", "subnets", "vlans", "if-entries", "services"];

const switchSighting = (fields: object = {}) =>
  deviceAt("10.0.0.2", {
    sys_name: "sw-1",
    sys_descr: "Switch OS 1.0",
    sys_object_id: "1.3.6.1.4.1.9.1.516",
    chassis_id: { subtype: "MacAddress", value: mac(1) } as const,
    interfaces: [ethernet(1, { vlans: [10], native_vlan: 10 })],
    addresses: [{ ip_address: "10.0.0.2", prefix_length: 24, if_index: 1 }],
    vlans: [{ number: 10, name: "users" }],
    ...fields,
  });

test("discovered records get defaults regardless of required fields, and keep manual values", async () => {
  await expectOk(owner.post("custom-fields", { key: "rack", kinds: KINDS, type: "text", default: "unknown" }));
  await expectOk(owner.post("custom-fields", { key: "owner", kinds: KINDS, type: "text", required: true }));
  await scan.devices(switchSighting());
  for (const path of PATHS) {
    const [record] = (await owner.get(path)).data as JsonRecord[];
    expect([path, record?.custom_fields]).toEqual([path, { rack: "unknown" }]);
    tick();
    await expectOk(owner.put(`${path}/${record?.id}`, { ...record, custom_fields: { rack: null, owner: "Ada" } }));
  }
  await scan.devices(
    switchSighting({
      sys_descr: "Switch OS 2.0",
      interfaces: [ethernet(1, { if_alias: "uplink", vlans: [10], native_vlan: 10 })],
    }),
  );
  expect(((await owner.get("hosts")).data as JsonRecord[])[0]).toMatchObject({ sys_descr: "Switch OS 2.0" });
  for (const path of PATHS)
    expect(((await owner.get(path)).data as JsonRecord[])[0]?.custom_fields).toEqual({ owner: "Ada" });
});
