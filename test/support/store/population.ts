// Small store with records of every kind: created, changed, moved, deleted and recreated.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { apiKeyHashes, userPasswords } from "../../../src/access/tables.ts";
import type { OwnFields } from "../../../src/db/kind.ts";
import { withChecksum } from "../../../src/db/row-checksum.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { type ApiKeyRecord, apiKeyKind } from "../../../src/resources/api-keys/api-key.ts";
import { bindingKind } from "../../../src/resources/bindings/binding.ts";
import { componentKind } from "../../../src/resources/components/component.ts";
import { conflictAcceptanceKind } from "../../../src/resources/conflict-acceptances/acceptance.ts";
import { recordConsolidation } from "../../../src/resources/consolidations/consolidation.ts";
import { credentialAssignmentKind } from "../../../src/resources/credential-assignments/credential-assignment.ts";
import { credentialKind } from "../../../src/resources/credentials/credential.ts";
import { credentialSecrets } from "../../../src/resources/credentials/secrets.ts";
import { customFieldKind } from "../../../src/resources/custom-fields/custom-field.ts";
import { fdbEntryKind } from "../../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../../src/resources/if-entries/if-entry.ts";
import { ignoredKind } from "../../../src/resources/ignored/ignored.ts";
import { ipAddressKind } from "../../../src/resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../../src/resources/ip-ranges/ip-range.ts";
import { markerKind } from "../../../src/resources/markers/marker.ts";
import { networkKind } from "../../../src/resources/networks/network.ts";
import { organizationKind } from "../../../src/resources/organizations/organization.ts";
import { portKind } from "../../../src/resources/ports/port.ts";
import { scheduleKind } from "../../../src/resources/schedules/schedule.ts";
import { serviceKind } from "../../../src/resources/services/service.ts";
import { subnetKind } from "../../../src/resources/subnets/subnet.ts";
import { tagKind } from "../../../src/resources/tags/tag.ts";
import { userKind } from "../../../src/resources/users/user.ts";
import { vlanKind } from "../../../src/resources/vlans/vlan.ts";
import {
  addressFields,
  bindingFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  networkFields,
  portFields,
  type Store,
  serviceFields,
  subnetFields,
  tagFields,
} from "./store.ts";

export interface Population {
  readonly hostId: string;
  readonly userId: string;
  readonly tagId: string;
  readonly deletedTagId: string;
  readonly credentialId: string;
  readonly entryId: string;
  readonly portId: string;
}

const MANUAL = { type: "Manual" } as const;

export function populate(store: Store): Population {
  const { organizationId, networkId } = store;
  const { userId } = store.write((tx) => {
    const other = tx.newId();
    tx.create(organizationKind, other, { name: "Other", require_change_reason: false }, { id: other });
    const network = tx.create(networkKind, other, networkFields(other, "theirs"));
    tx.create(hostKind, other, hostFields(network.id, "theirs"));
    const user = tx.create(userKind, organizationId, {
      organization_id: organizationId,
      email: "Ann@example.net",
      name: "Ann",
      role: "Owner",
      network_ids: [networkId],
      is_enabled: true,
    });
    tx.runAfterWrite(() =>
      tx.db
        .insert(userPasswords)
        .values(withChecksum(userPasswords, { user_n: tx.recordN(user.id) as number, hash: "kept" }))
        .run(),
    );
    return { userId: user.id };
  });
  const deletedTagId = store.write((tx) => tx.create(tagKind, organizationId, tagFields(organizationId, "gone")).id);
  store.write((tx) => tx.remove(tagKind, deletedTagId));
  const created = store.write((tx) => inventory(tx, store, userId));
  store.write((tx) => discovery(tx, store, created.hostId));
  store.run((tx) => tx.update(hostKind, created.hostId, { name: "renamed" }), {
    ...SYSTEM_AUTHOR,
    reason: "Ü: \u{1f600}",
  });
  store.write((tx) => tx.update(ifEntryKind, created.entryId, { oper_status: "Down", if_alias: 'Ü\u0000\u2028😀"\\' }));
  moveThereAndBack(store, created.hostId);
  recreate(store, created.hostId);
  recordDecisions(store, created.hostId);
  store.write((tx) => tx.observe(ifEntryKind, created.entryId, { last_seen_at: "2026-11-21T10:00:00.000Z" }));
  return { ...created, userId, deletedTagId };
}

/** Location of new records. */
interface RecordLocation {
  readonly organizationId: string;
  readonly networkId: string;
}

/** Writes the records that only scans produce. */
export function discovery(tx: WriteTransaction, { organizationId, networkId }: RecordLocation, hostId: string): void {
  tx.create(scheduleKind, organizationId, {
    network_id: networkId,
    name: "Night",
    cron: "30 2 * * *",
    timezone: "Europe/Berlin",
    kind: "full",
    targets: ["10.0.0.0/24"],
    is_enabled: true,
  });
  for (const [host_id, entity, identity] of [
    [null, "vlan", `${networkId}/9`],
    [hostId, "port", `${hostId}/80/Tcp`],
  ] as const) {
    const finding = { entity, record_id: tx.newId(), host_id, identity, label: identity, signs: [] };
    tx.create(ignoredKind, organizationId, { network_id: networkId, ...finding });
  }
}

/** Creates records of nearly every kind. @param suffix makes names distinct within the organization */
export function inventory(
  tx: WriteTransaction,
  { organizationId, networkId }: RecordLocation,
  userId: string,
  suffix = "",
) {
  const tag = tx.create(tagKind, organizationId, tagFields(organizationId, `kept${suffix}`));
  const customField = tx.create(customFieldKind, organizationId, {
    organization_id: organizationId,
    key: `rack${suffix.replace(/[^a-z0-9]/g, "_")}`,
    label: "Rack",
    kinds: ["vlan"],
    type: "text",
    choices: [],
    required: false,
    default: null,
    description: null,
  });
  const vlan = tx.create(vlanKind, organizationId, {
    network_id: networkId,
    number: 7,
    name: "seven",
    description: null,
    source: MANUAL,
    custom_fields: { [customField.key]: "R1 Größe", room: "A" },
  });
  const fields = { name: "all", vlan_id: vlan.id, tags: [tag.id] };
  const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/8", fields));
  tx.create(ipRangeKind, organizationId, {
    network_id: networkId,
    subnet_id: subnet.id,
    first: "10.0.0.100",
    last: "10.0.0.199",
    purpose: "Dhcp",
    description: null,
    tags: [tag.id],
  });
  const host = tx.create(hostKind, organizationId, hostFields(networkId, "host", { tags: [tag.id] }));
  const address = tx.create(ipAddressKind, organizationId, addressFields(host, subnet.id, "10.0.0.1"));
  const entry = tx.create(
    ifEntryKind,
    organizationId,
    ifEntryFields(host, 1, { ip_address_id: address.id, native_vlan_id: vlan.id, vlan_ids: [vlan.id] }),
    { composed: true },
  );
  tx.create(ifEntryKind, organizationId, ifEntryFields(host, 2, { neighbor: { type: "IfEntry", id: entry.id } }));
  for (const mac of ["00:00:00:00:00:02", "00:00:00:00:00:01"])
    tx.create(fdbEntryKind, organizationId, fdbEntryFields(entry, mac));
  tx.create(componentKind, organizationId, {
    host_id: host.id,
    network_id: networkId,
    class: "Chassis",
    position: 1,
    manufacturer: "Acme",
    model: "AX-48",
    serial_number: "AC1",
    first_discovery_id: null,
  });
  const port = tx.create(portKind, organizationId, portFields(host, 22));
  const service = tx.create(serviceKind, organizationId, serviceFields(host, "shell", { tags: [tag.id] }));
  tx.create(bindingKind, organizationId, bindingFields(service, port.id));
  const credential = tx.create(credentialKind, organizationId, {
    organization_id: organizationId,
    name: `read-only${suffix}`,
    credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "********" } },
    tags: [tag.id],
    target_ips: null,
    secrets_updated_at: "2026-11-21T09:00:00.000Z",
  });
  for (const [host_id, ip_address_ids] of [
    [null, null],
    [host.id, [address.id]],
  ] as const)
    tx.create(credentialAssignmentKind, organizationId, {
      credential_id: credential.id,
      network_id: networkId,
      host_id,
      ip_address_ids,
    });
  for (const [network_id, name] of [
    [networkId, "before the upgrade"],
    [null, "before it all"],
  ] as const)
    tx.create(markerKind, organizationId, {
      organization_id: organizationId,
      network_id,
      name: `${name}${suffix}`,
      at: "2026-11-20T21:55:00.000Z",
      description: null,
    });
  const key: OwnFields<ApiKeyRecord> = {
    name: "key",
    organization_id: organizationId,
    user_id: userId,
    tags: [tag.id],
    expires_at: "2027-01-01T00:00:00.000Z",
    is_enabled: true,
    permissions: "Viewer",
    all_networks: false,
    network_ids: [networkId],
    allowed_sources: ["10.0.0.0/8", "2001:db8::/32"],
    key: "nlk_Ab3d…",
  };
  const { id: keyId } = tx.create(apiKeyKind, organizationId, key);
  tx.runAfterWrite(() => {
    const hash = { hash: Buffer.from(keyId), api_key_n: tx.recordN(keyId) as number };
    tx.db.insert(apiKeyHashes).values(withChecksum(apiKeyHashes, hash)).run();
    const secret = {
      credential_n: tx.recordN(credential.id) as number,
      field: "community" as const,
      sealed: Buffer.of(0),
    };
    tx.db.insert(credentialSecrets).values(withChecksum(credentialSecrets, secret)).run();
  });
  return { hostId: host.id, tagId: tag.id, credentialId: credential.id, entryId: entry.id, portId: port.id };
}

/** Moves a record out of a network and back, which gives it two spans in the network. */
function moveThereAndBack(store: Store, hostId: string): void {
  const otherNetwork = store.write(
    (tx) => tx.create(networkKind, store.organizationId, networkFields(store.organizationId, "elsewhere")).id,
  );
  const created = store.write(
    (tx) => tx.create(portKind, store.organizationId, portFields({ id: hostId, network_id: store.networkId }, 80)).id,
  );
  store.write((tx) => tx.update(portKind, created, { network_id: otherNetwork }));
  store.write((tx) => tx.update(portKind, created, { network_id: store.networkId }));
}

/** Creates and deletes a record three times. */
function recreate(store: Store, hostId: string): void {
  for (let index = 0; index < 3; index += 1) {
    const created = store.write(
      (tx) =>
        tx.create(portKind, store.organizationId, portFields({ id: hostId, network_id: store.networkId }, 443)).id,
    );
    store.write((tx) => tx.remove(portKind, created));
  }
}

/** Decisions by users: an accepted conflict, withdrawn later, and a merged host. */
function recordDecisions(store: Store, hostId: string): void {
  const { organizationId, networkId } = store;
  const author = { type: "User", id: null, name: "Ann" };
  const { acceptance, former } = store.write((tx) => ({
    acceptance: tx.create(conflictAcceptanceKind, organizationId, {
      organization_id: organizationId,
      network_ids: [networkId],
      type: "Address",
      value: "10.0.0.1",
      fingerprint: "0f".repeat(32),
      reason: "a cluster",
      accepted_at: "2026-11-21T09:30:00.000Z",
      accepted_by: author,
      withdrawn_at: null,
      withdrawn_by: null,
    }),
    former: tx.create(hostKind, organizationId, hostFields(networkId, "former")),
  }));
  const withdrawal = { withdrawn_at: "2026-11-21T09:45:00.000Z", withdrawn_by: author };
  store.write((tx) => tx.update(conflictAcceptanceKind, acceptance.id, withdrawal));
  store.write((tx) => {
    tx.remove(hostKind, former.id);
    recordConsolidation(tx, store, { id: former.id, signs: ["serial:A"] }, { id: hostId, signs: ["serial:B"] });
  });
}
