// Introduction of each stored field: the upcasters of a kind add the fields that earlier versions lack.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SCHEMA_VERSION } from "../../src/db/files/migrate.ts";
import type { OwnFields, RecordBase } from "../../src/db/kind.ts";
import { membersSql } from "../../src/db/shape.ts";
import { KINDS } from "../../src/records/resources.ts";
import type { ApiKeyRecord } from "../../src/resources/api-keys/api-key.ts";
import type { BindingRecord } from "../../src/resources/bindings/binding.ts";
import type { ConflictAcceptanceRecord } from "../../src/resources/conflict-acceptances/acceptance.ts";
import type { HostConsolidationRecord } from "../../src/resources/consolidations/consolidation.ts";
import type { CredentialAssignmentRecord } from "../../src/resources/credential-assignments/credential-assignment.ts";
import type { CredentialRecord } from "../../src/resources/credentials/credential.ts";
import type { CustomFieldRecord } from "../../src/resources/custom-fields/custom-field.ts";
import type { FdbEntryRecord } from "../../src/resources/fdb-entries/fdb-entry.ts";
import type { HostRecord } from "../../src/resources/hosts/host.ts";
import type { IfEntryRecord } from "../../src/resources/if-entries/if-entry.ts";
import type { IgnoredRecord } from "../../src/resources/ignored/ignored.ts";
import type { IpAddressRecord } from "../../src/resources/ip-addresses/ip-address.ts";
import type { IpRangeRecord } from "../../src/resources/ip-ranges/ip-range.ts";
import type { MarkerRecord } from "../../src/resources/markers/marker.ts";
import type { NetworkRecord } from "../../src/resources/networks/network.ts";
import type { OrganizationRecord } from "../../src/resources/organizations/organization.ts";
import type { PortRecord } from "../../src/resources/ports/port.ts";
import type { ScheduleRecord } from "../../src/resources/schedules/schedule.ts";
import type { ServiceRecord } from "../../src/resources/services/service.ts";
import type { SubnetRecord } from "../../src/resources/subnets/subnet.ts";
import type { TagRecord } from "../../src/resources/tags/tag.ts";
import type { UserRecord } from "../../src/resources/users/user.ts";
import type { VlanRecord } from "../../src/resources/vlans/vlan.ts";

/** Fields of every record. */
type Kept<R extends RecordBase> = {
  readonly [Name in keyof OwnFields<R> as undefined extends R[Name] ? never : Name]: Since;
};
/** FIRST, or the migration number of the upcaster that adds the field. */
type Since = number;
/** Of 0.2.0, whose stores exist: a new field must not belong to it. */
const FIRST = 0;

const KEPT: Readonly<Record<string, Readonly<Record<string, Since>>>> = {
  organization: { name: FIRST, require_change_reason: FIRST } satisfies Kept<OrganizationRecord>,
  network: {
    organization_id: FIRST,
    name: FIRST,
    description: FIRST,
    tags: FIRST,
    stale_after_hours: FIRST,
  } satisfies Kept<NetworkRecord>,
  vlan: { network_id: FIRST, number: FIRST, name: FIRST, description: FIRST, source: FIRST } satisfies Kept<VlanRecord>,
  subnet: {
    network_id: FIRST,
    cidr: FIRST,
    name: FIRST,
    description: FIRST,
    subnet_type: FIRST,
    vlan_id: FIRST,
    source: FIRST,
    tags: FIRST,
    accepts_credentials: FIRST,
  } satisfies Kept<SubnetRecord>,
  ip_range: {
    network_id: FIRST,
    subnet_id: FIRST,
    first: FIRST,
    last: FIRST,
    purpose: FIRST,
    description: FIRST,
    tags: FIRST,
  } satisfies Kept<IpRangeRecord>,
  tag: {
    organization_id: FIRST,
    name: FIRST,
    description: FIRST,
    color: FIRST,
    is_application: FIRST,
  } satisfies Kept<TagRecord>,
  custom_field: {
    organization_id: FIRST,
    key: FIRST,
    label: FIRST,
    kinds: FIRST,
    type: FIRST,
    choices: FIRST,
    required: FIRST,
    default: FIRST,
    description: FIRST,
  } satisfies Kept<CustomFieldRecord>,
  marker: {
    organization_id: FIRST,
    network_id: FIRST,
    name: FIRST,
    at: FIRST,
    description: FIRST,
  } satisfies Kept<MarkerRecord>,
  credential: {
    organization_id: FIRST,
    name: FIRST,
    credential_type: FIRST,
    tags: FIRST,
    target_ips: FIRST,
    secrets_updated_at: FIRST,
  } satisfies Kept<CredentialRecord>,
  host: {
    name: FIRST,
    hostname: FIRST,
    description: FIRST,
    hidden: FIRST,
    network_id: FIRST,
    tags: FIRST,
    source: FIRST,
    virtualization: FIRST,
    sys_name: FIRST,
    sys_descr: FIRST,
    sys_object_id: FIRST,
    sys_location: FIRST,
    sys_contact: FIRST,
    chassis_id: FIRST,
    manufacturer: FIRST,
    model: FIRST,
    serial_number: FIRST,
    management_url: FIRST,
    asset_tag: FIRST,
  } satisfies Kept<HostRecord>,
  ip_address: {
    host_id: FIRST,
    network_id: FIRST,
    subnet_id: FIRST,
    ip_address: FIRST,
    mac_address: FIRST,
    name: FIRST,
    position: FIRST,
    first_discovery_id: FIRST,
  } satisfies Kept<IpAddressRecord>,
  if_entry: {
    host_id: FIRST,
    network_id: FIRST,
    if_index: FIRST,
    if_descr: FIRST,
    if_type: FIRST,
    admin_status: FIRST,
    oper_status: FIRST,
  } satisfies Kept<IfEntryRecord>,
  fdb_entry: {
    if_entry_id: FIRST,
    host_id: FIRST,
    network_id: FIRST,
    mac_address: FIRST,
    vlan_number: FIRST,
  } satisfies Kept<FdbEntryRecord>,
  port: {
    host_id: FIRST,
    network_id: FIRST,
    number: FIRST,
    protocol: FIRST,
    type: FIRST,
    first_discovery_id: FIRST,
  } satisfies Kept<PortRecord>,
  service: {
    host_id: FIRST,
    network_id: FIRST,
    name: FIRST,
    position: FIRST,
    service_definition: FIRST,
    source: FIRST,
    tags: FIRST,
    virtualization: FIRST,
    first_discovery_id: FIRST,
  } satisfies Kept<ServiceRecord>,
  binding: {
    service_id: FIRST,
    host_id: FIRST,
    network_id: FIRST,
    type: FIRST,
    port_id: FIRST,
    ip_address_id: FIRST,
    first_discovery_id: FIRST,
  } satisfies Kept<BindingRecord>,
  credential_assignment: {
    credential_id: FIRST,
    network_id: FIRST,
    host_id: FIRST,
    ip_address_ids: FIRST,
  } satisfies Kept<CredentialAssignmentRecord>,
  user: {
    organization_id: FIRST,
    email: FIRST,
    name: FIRST,
    role: FIRST,
    network_ids: FIRST,
    is_enabled: FIRST,
  } satisfies Kept<UserRecord>,
  api_key: {
    name: FIRST,
    organization_id: FIRST,
    user_id: FIRST,
    tags: FIRST,
    expires_at: FIRST,
    is_enabled: FIRST,
    permissions: FIRST,
    all_networks: FIRST,
    network_ids: FIRST,
    allowed_sources: FIRST,
    key: FIRST,
  } satisfies Kept<ApiKeyRecord>,
  schedule: {
    network_id: FIRST,
    name: FIRST,
    cron: FIRST,
    timezone: FIRST,
    kind: FIRST,
    targets: FIRST,
    is_enabled: FIRST,
  } satisfies Kept<ScheduleRecord>,
  ignored: {
    network_id: FIRST,
    entity: FIRST,
    record_id: FIRST,
    host_id: FIRST,
    identity: FIRST,
    label: FIRST,
    signs: FIRST,
  } satisfies Kept<IgnoredRecord>,
  conflict_acceptance: {
    organization_id: FIRST,
    network_ids: FIRST,
    type: FIRST,
    value: FIRST,
    fingerprint: FIRST,
    reason: FIRST,
    accepted_at: FIRST,
    accepted_by: FIRST,
    withdrawn_at: FIRST,
    withdrawn_by: FIRST,
  } satisfies Kept<ConflictAcceptanceRecord>,
  host_consolidation: {
    organization_id: FIRST,
    former_id: FIRST,
    into_id: FIRST,
    network_id: FIRST,
    closed_in: FIRST,
    signs: FIRST,
    into_signs: FIRST,
  } satisfies Kept<HostConsolidationRecord>,
};

test.each(KINDS.map((kind) => [kind.name, kind] as const))(
  "a version of a kind's first shape reads with all present fields: %s",
  (name, kind) => {
    expect(KEPT, "a new kind takes a place in KEPT").toContainKey(name);
    const fields = Object.entries(KEPT[name] ?? {});
    const first = fields.filter(([, since]) => since === FIRST).map(([field]) => `"${field}":null`);
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
      "what is new in a record is added to the versions from before it: `upcasters` of its kind, addsField",
    ).toEqual(fields.map(([field]) => field).sort());
    const migrations = (kind.upcasters ?? []).map(({ migration }) => migration);
    expect(Math.max(0, ...migrations), "the migration of an upcaster is there").toBeLessThanOrEqual(SCHEMA_VERSION);
    for (const [field, since] of fields) if (since !== FIRST) expect(migrations, field).toContain(since);
  },
);

test("the first shapes are those of 0.2.0: a field added since names its migration", () => {
  const first = Object.entries(KEPT).flatMap(([kind, fields]) =>
    Object.entries(fields).flatMap(([field, since]) => (since === FIRST ? [`${kind}.${field}`] : [])),
  );
  expect(createHash("sha256").update(first.sort().join("\n")).digest("hex")).toBe(
    "647e8acea4108aeb3d994f060d7f0478b7ece8f7a8f1697b2162595919320a5b",
  );
});
