// Draft constraints: uniqueness, addresses within subnets, limits and permissions. Violations become conflicts of the
// draft; an operation that the caller may not request at all throws.

import type { CommandActor } from "../../access/actor.ts";
import { assertReachesAll } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { countedEntities, entityWord, entityWords } from "../../base/entity-words.ts";
import { DomainError } from "../../base/errors.ts";
import { ownValue } from "../../base/fields.ts";
import { isIpWithin } from "../../base/ip.ts";
import { type AnyKind, liveIdentity, type RecordBase, seenIdentity } from "../../db/kind.ts";
import { MAX_CREATED_PER_TRANSACTION } from "../../db/writing/ledger.ts";
import { dependsOnReach } from "../../records/disclosed-fields.ts";
import { type ApiKeyRecord, type ApiKeyUpdate, apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { keyFields } from "../../resources/api-keys/commands.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import { componentKind } from "../../resources/components/component.ts";
import {
  type CredentialAssignmentRecord,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import { assertReachesCredential, credentialOutOfReach } from "../../resources/credential-assignments/reach.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { DEFINING } from "../../resources/custom-fields/commands.ts";
import { customFieldKind } from "../../resources/custom-fields/custom-field.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { ipRangeKind } from "../../resources/ip-ranges/ip-range.ts";
import { organizationKind } from "../../resources/organizations/organization.ts";
import { portKind } from "../../resources/ports/port.ts";
import { referencesOf, referrersOf } from "../../resources/references.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { ADMIN_FIELDS, changedAdminField } from "../../resources/subnets/commands.ts";
import { type SubnetRecord, subnetKind } from "../../resources/subnets/subnet.ts";
import { assertReachesTagged } from "../../resources/tags/reach.ts";
import { tagKind } from "../../resources/tags/tag.ts";
import { MANAGING_USERS, userFields } from "../../resources/users/commands.ts";
import { type UserRecord, type UserUpdate, userKind } from "../../resources/users/user.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import { type DraftedRecord, isWritten, type RestoreDraft } from "./draft.ts";
import { checkCustomFields } from "./draft-custom-fields.ts";
import { checkRanges, rangesLeftOutside, refuseOutside } from "./draft-ranges.ts";
import { recordPhrase } from "./plan.ts";

/** @throws DomainError auth_permission_denied, entity_access_denied like the record's own update */
export function checkDraft(draft: RestoreDraft, actor: CommandActor): void {
  checkCustomFields(draft, actor);
  // Checked even without changes, as for an update: otherwise the error would reveal whether there are any.
  if (draft.all.some(({ kind }) => kind.code === userKind.code)) assertReachesAll(actor, MANAGING_USERS);
  const written = draft.all.filter(isWritten);
  for (const drafted of written) {
    const { kind } = drafted;
    if (kind.code === userKind.code || kind.code === apiKeyKind.code) checkAccess(draft, drafted, actor);
    else if (kind.code === credentialKind.code) checkCredential(draft, drafted, actor);
    else if (kind.code === credentialAssignmentKind.code) checkAssignment(draft, drafted, actor);
    else if (kind.code === tagKind.code && drafted.before !== null) assertReachesTagged(draft.tx, drafted.id, actor);
    else if (kind.code === customFieldKind.code) assertReachesAll(actor, DEFINING);
    else if (kind.code === organizationKind.code) assertReachesAll(actor, "Changing the organization");
    else if (kind.code === ipAddressKind.code) checkAddress(draft, drafted, actor);
    else if (kind.code === subnetKind.code) checkSubnet(draft, drafted, actor);
  }
  for (const drafted of written) checkMove(draft, drafted);
  checkRanges(draft, written);
  checkIdentities(draft, written);
  checkLimits(draft, written);
}

/** Input of the user update that restores this state. */
export function userUpdate(record: RecordBase): Required<Omit<UserUpdate, "id" | "organization_id" | "password">> {
  const { email, name, role, network_ids, is_enabled } = record as UserRecord;
  return { email, name, role, network_ids: [...network_ids], is_enabled };
}

/** Input of the key update that restores this state. Omits unchanged networks: the user may have lost some. */
export function keyUpdate(
  before: RecordBase,
  after: RecordBase,
): Required<Omit<ApiKeyUpdate, "id" | "network_ids">> & Pick<ApiKeyUpdate, "network_ids"> {
  const { name, organization_id, user_id, tags, expires_at, is_enabled, permissions } = after as ApiKeyRecord;
  const { allowed_sources, all_networks, network_ids } = after as ApiKeyRecord;
  const { all_networks: hadAllNetworks, network_ids: previousNetworks } = before as ApiKeyRecord;
  return {
    name,
    organization_id,
    user_id,
    tags: [...tags],
    expires_at,
    is_enabled,
    permissions,
    allowed_sources: allowed_sources === null ? null : [...allowed_sources],
    all_networks,
    ...(all_networks || (!hadAllNetworks && Bun.deepEquals(network_ids, previousNetworks))
      ? {}
      : { network_ids: [...network_ids] }),
  };
}

/** Applies the update's rules for granting roles. */
function checkAccess(draft: RestoreDraft, drafted: DraftedRecord, actor: CommandActor): void {
  const { kind, before, after } = drafted;
  if (before === null || after === null) return;
  try {
    const fields =
      kind.code === userKind.code
        ? userFields(draft.tx, before as UserRecord, userUpdate(after), actor)
        : keyFields(draft.tx, before as ApiKeyRecord, keyUpdate(before, after), actor);
    drafted.after = { ...after, ...fields };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === "entity_in_use") draft.refuse(drafted, "in_use", error.message.replace(/\.$/, ""));
    else if (error.code === "entity_reference_invalid") {
      const field = String(error.params.field);
      const isDisclosed = actor.networkIds === null || !dependsOnReach(kind, field);
      const message = isDisclosed ? error.message.replace(/\.$/, "") : `the record in ${field} is no longer in reach`;
      draft.refuse(drafted, "reference_gone", message, field);
    } else throw error;
  }
}

/** A restored credential needs an assignment, as a new one does; parts of a draft are within the caller's reach. */
function checkCredential(draft: RestoreDraft, { id, before }: DraftedRecord, actor: CommandActor): void {
  if (before !== null) assertReachesCredential(draft.tx, id, actor);
  else if (
    actor.networkIds !== null &&
    !draft.all.some(
      ({ kind, after }) =>
        kind.code === credentialAssignmentKind.code &&
        (after as CredentialAssignmentRecord | null)?.credential_id === id,
    )
  )
    throw credentialOutOfReach(id);
}

function checkAssignment(draft: RestoreDraft, { subject }: DraftedRecord, actor: CommandActor): void {
  const { credential_id: id } = subject as CredentialAssignmentRecord;
  // A credential in the draft is checked on its own.
  if (draft.tx.find(credentialKind, id) !== null) assertReachesCredential(draft.tx, id, actor);
}

function checkAddress(draft: RestoreDraft, drafted: DraftedRecord, actor: CommandActor): void {
  const [before, after] = [drafted.before, drafted.after] as [IpAddressRecord | null, IpAddressRecord | null];
  if (after === null) return;
  const subnet = draft.find(subnetKind, after.subnet_id) as SubnetRecord | null;
  if (subnet !== null && !isIpWithin(after.ip_address, subnet.cidr))
    refuseOutside(draft, drafted, after.ip_address, subnet);
  // Sending a credential to a self-chosen address would disclose it.
  if (before === null || before.ip_address === after.ip_address || atLeast(actor.role, "Admin")) return;
  if (draft.tx.referringTo("ip_address_ids", drafted.id).length === 0) return;
  const message = `a credential is assigned to ${before.ip_address}, and making it ${after.ip_address} requires the role Admin`;
  draft.refuse(drafted, "role_too_low", message, "ip_address");
}

/** A record that returns to another host must not leave references behind: a binding belongs to one host. */
function checkMove(draft: RestoreDraft, drafted: DraftedRecord): void {
  const [from, to] = [drafted.before, drafted.after].map((state) => (state as { host_id?: string } | null)?.host_id);
  if (from === undefined || to === undefined || from === to) return;
  for (const { kind, record } of referrersOf(draft.tx, drafted.kind, drafted.id)) {
    if (kind.code !== bindingKind.code && kind.code !== ifEntryKind.code) continue;
    const state = draft.find(kind, record.id) as { readonly host_id?: string } | null;
    const isReferenced =
      state !== null && referencesOf(kind, state as RecordBase).some(({ ids }) => ids.includes(drafted.id));
    if (isReferenced && drafted.kind.code !== ifEntryKind.code && state.host_id !== to)
      draft.refuse(drafted, "in_use", `${recordPhrase(drafted.kind, drafted.subject)} is in use at its current host`);
  }
}

function checkSubnet(draft: RestoreDraft, drafted: DraftedRecord, actor: CommandActor): void {
  const [before, after] = [drafted.before, drafted.after] as [SubnetRecord | null, SubnetRecord | null];
  if (after === null) return;
  const field = atLeast(actor.role, "Admin") ? null : changedAdminField(before, after);
  if (field !== null) {
    const what = before === null ? "restoring a subnet that accepts credentials" : `changing ${ADMIN_FIELDS[field]}`;
    draft.refuse(drafted, "role_too_low", `${what} requires the role Admin`, field);
  }
  if (before === null || before.cidr === after.cidr) return;
  const outside = (draft.tx.children(ipAddressKind, "subnet_n", drafted.id) as IpAddressRecord[])
    .map((address) => draft.find(ipAddressKind, address.id) as IpAddressRecord | null)
    .filter(
      (address) => address !== null && address.subnet_id === drafted.id && !isIpWithin(address.ip_address, after.cidr),
    );
  const ranges = rangesLeftOutside(draft, drafted.id, after.cidr);
  for (const [kind, count] of [[ipAddressKind, outside.length] as const, [ipRangeKind, ranges] as const]) {
    if (count === 0) continue;
    const message = `the subnet now has ${countedEntities(kind, count)} outside of ${after.cidr}`;
    draft.refuse(drafted, "in_use", message, "cidr");
  }
}

function checkIdentities(draft: RestoreDraft, written: readonly DraftedRecord[]): void {
  const claimed = new Map<string, DraftedRecord>();
  for (const drafted of written) {
    const { kind, id, before, after } = drafted;
    if (kind.unique === null || after === null) continue;
    const identity = liveIdentity(kind, after);
    if (identity === null || (before !== null && liveIdentity(kind, before) === identity)) continue;
    const seen = seenIdentity(kind, after);
    const key = `${kind.code}/${seen}`;
    const live = draft.tx.findDuplicate(kind, { ...after, id }) as RecordBase | null;
    // The current holder may give it up in this draft.
    const holder = live === null ? null : draft.find(kind, live.id);
    const isHeld = holder !== null && seenIdentity(kind, holder) === seen;
    if (isHeld || claimed.has(key)) {
      const { field, value } = kind.unique;
      const message = `there is now another ${entityWord(kind)} with the ${field} ${String(value(after))}`;
      draft.refuse(drafted, "identity_taken", message, field);
    }
    claimed.set(key, drafted);
  }
}

/** Kinds with a maximum number per parent, and the column that refers to the parent. */
const CHILDREN: ReadonlyArray<{ readonly kind: AnyKind; readonly column: string; readonly field: string }> = [
  { kind: ipAddressKind, column: "host_n", field: "host_id" },
  { kind: portKind, column: "host_n", field: "host_id" },
  { kind: serviceKind, column: "host_n", field: "host_id" },
  { kind: componentKind, column: "host_n", field: "host_id" },
  { kind: bindingKind, column: "service_n", field: "service_id" },
];

function checkLimits(draft: RestoreDraft, written: readonly DraftedRecord[]): void {
  const created = written.filter(({ before }) => before === null);
  const [first] = created;
  if (first !== undefined && created.length > MAX_CREATED_PER_TRANSACTION) {
    const message = `${created.length} records would be restored at once; the limit is ${MAX_CREATED_PER_TRANSACTION}`;
    draft.refuse(first, "limit_reached", message);
  }
  for (const { kind, column, field } of CHILDREN) {
    const ofKind = created.filter((drafted) => drafted.kind.code === kind.code);
    for (const [parentId, newRecords] of Map.groupBy(ofKind, ({ after }) => ownValue(after, field) as string)) {
      const remaining = (draft.tx.children(kind, column, parentId) as RecordBase[]).filter(
        (each) => draft.find(kind, each.id) !== null,
      ).length;
      const firstCreated = newRecords[0] as DraftedRecord;
      if (remaining + newRecords.length <= CHILDREN_MAX) continue;
      const message = `with ${recordPhrase(kind, firstCreated.subject)} there would be more than ${CHILDREN_MAX} ${entityWords(kind)}`;
      draft.refuse(firstCreated, "limit_reached", message, field);
    }
  }
}
