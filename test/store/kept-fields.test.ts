// Stored fields and the version that introduced each: a kind's upcasters add the fields missing from earlier versions.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { Kind, OwnFields, RecordBase } from "../../src/db/kind.ts";
import { membersSql } from "../../src/db/shape.ts";
import { KINDS } from "../../src/records/resources.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { bindingKind } from "../../src/resources/bindings/binding.ts";
import { componentKind } from "../../src/resources/components/component.ts";
import { conflictAcceptanceKind } from "../../src/resources/conflict-acceptances/acceptance.ts";
import { hostConsolidationKind } from "../../src/resources/consolidations/consolidation.ts";
import { credentialAssignmentKind } from "../../src/resources/credential-assignments/credential-assignment.ts";
import { credentialKind } from "../../src/resources/credentials/credential.ts";
import { customFieldKind } from "../../src/resources/custom-fields/custom-field.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ignoredKind } from "../../src/resources/ignored/ignored.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../src/resources/ip-ranges/ip-range.ts";
import { markerKind } from "../../src/resources/markers/marker.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { organizationKind } from "../../src/resources/organizations/organization.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { scheduleKind } from "../../src/resources/schedules/schedule.ts";
import { serviceKind } from "../../src/resources/services/service.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { userKind } from "../../src/resources/users/user.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";

/** Fields present in every record of a kind. */
type StoredField<R extends RecordBase> = keyof {
  [Name in keyof OwnFields<R> as undefined extends R[Name] ? never : Name]: unknown;
};
type Words<Text extends string> = Text extends `${infer Word} ${infer Others}` ? Word | Words<Others> : Text;
type IfEqual<A, B> = [A, B] extends [B, A] ? unknown : never;

/** A kind's name and stored fields. A missing field or an unknown name does not compile. */
function stored<R extends RecordBase, Text extends string>(
  kind: Kind<R>,
  ...texts: ReadonlyArray<Text & IfEqual<StoredField<R>, Words<Text>>>
): [string, string[]] {
  return [kind.name, texts.join(" ").split(" ")];
}

const STORED: ReadonlyMap<string, readonly string[]> = new Map([
  stored(organizationKind, "name require_change_reason"),
  stored(
    networkKind,
    "organization_id name description tags stale_after_hours",
    "expire_addresses_after_hours expire_hosts_after_hours expire_random_macs_after_hours",
  ),
  stored(vlanKind, "network_id number name description source"),
  stored(subnetKind, "network_id cidr name description subnet_type vlan_id source tags accepts_credentials"),
  stored(ipRangeKind, "network_id subnet_id first last purpose description tags"),
  stored(tagKind, "organization_id name description color is_application"),
  stored(customFieldKind, "organization_id key label kinds type choices required default description"),
  stored(markerKind, "organization_id network_id name at description"),
  stored(credentialKind, "organization_id name credential_type tags target_ips secrets_updated_at"),
  stored(
    hostKind,
    "name hostname description hidden network_id tags source virtualization sys_name sys_descr sys_object_id",
    "sys_location sys_contact chassis_id manufacturer model serial_number management_url asset_tag",
  ),
  stored(ipAddressKind, "host_id network_id subnet_id ip_address mac_address name position first_discovery_id"),
  stored(ifEntryKind, "host_id network_id if_index if_descr if_type admin_status oper_status"),
  stored(fdbEntryKind, "if_entry_id host_id network_id mac_address vlan_number"),
  stored(portKind, "host_id network_id number protocol type first_discovery_id"),
  stored(
    serviceKind,
    "host_id network_id name position service_definition source tags virtualization first_discovery_id",
  ),
  stored(bindingKind, "service_id host_id network_id type port_id ip_address_id first_discovery_id"),
  stored(credentialAssignmentKind, "credential_id network_id host_id ip_address_ids"),
  stored(userKind, "organization_id email name role network_ids is_enabled"),
  stored(
    apiKeyKind,
    "name organization_id user_id tags expires_at is_enabled permissions all_networks network_ids allowed_sources key",
  ),
  stored(scheduleKind, "network_id name cron timezone kind targets is_enabled"),
  stored(ignoredKind, "network_id entity record_id host_id identity label signs"),
  stored(
    conflictAcceptanceKind,
    "organization_id network_ids type value fingerprint reason accepted_at accepted_by withdrawn_at withdrawn_by",
  ),
  stored(componentKind, "host_id network_id class position manufacturer model serial_number first_discovery_id"),
  stored(hostConsolidationKind, "organization_id former_id into_id network_id closed_in signs into_signs"),
]);

/** Migration of the upcaster that adds a field, by `kind.field`. All other fields are in 0.2.0, whose stores exist. */
const ADDED_IN: Readonly<Record<string, number>> = {
  "network.expire_addresses_after_hours": 45,
  "network.expire_hosts_after_hours": 45,
  "network.expire_random_macs_after_hours": 45,
};
const isFirst = (kind: string, field: string) => ADDED_IN[`${kind}.${field}`] === undefined;

test.each(KINDS.map((kind) => [kind.name, kind] as const))(
  "a version of a kind's first shape is read with all current fields: %s",
  (name, kind) => {
    expect([...STORED.keys()], "a new kind needs an entry in STORED").toContain(name);
    const fields = STORED.get(name) ?? [];
    const first = fields.filter((field) => isFirst(name, field)).map((field) => `"${field}":null`);
    const db = new Database(":memory:");
    db.run("CREATE TABLE history_versions (key INTEGER PRIMARY KEY, members TEXT)");
    const row = db
      .query(
        `SELECT ${membersSql(kind, "v")} AS members
          FROM (SELECT 1 AS key, NULL AS patch, NULL AS valid_from, 1 AS shape, ? AS members) v`,
      )
      .get(first.join(",")) as { members: string };
    expect(
      Object.keys(JSON.parse(`{${row.members}}`)).sort(),
      "a new field needs an upcaster that adds it to earlier versions: `upcasters` of the kind, addField",
    ).toEqual(fields.toSorted());
    const migrations = (kind.upcasters ?? []).map(({ migration }) => migration);
    expect(Math.max(0, ...migrations), "the migration of every upcaster exists").toBeLessThanOrEqual(SCHEMA_VERSION);
    for (const field of fields)
      if (!isFirst(name, field)) expect(migrations, field).toContain(ADDED_IN[`${name}.${field}`] as number);
  },
);

test("the first shapes are those of 0.2.0: a field added since specifies its migration", () => {
  const first = [...STORED].flatMap(([kind, fields]) =>
    fields.filter((field) => isFirst(kind, field)).map((field) => `${kind}.${field}`),
  );
  expect(createHash("sha256").update(first.sort().join("\n")).digest("hex")).toBe(
    "d27e94425ee084572f48a7fc5d624f9cd4c6521a193896ba07a6085856b1565c",
  );
});
