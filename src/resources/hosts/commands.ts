// What the writer runs for hosts: the host itself, its children and its credential assignments, in one transaction or not at all.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { DomainError, invalid, type Issue } from "../../base/errors.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { setHostAssignments } from "../credential-assignments/assignments.ts";
import { addIfEntry } from "../if-entries/describe.ts";
import { networkKind } from "../networks/network.ts";
import { removeRecord } from "../references.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { syncChildren } from "./children.ts";
import { hostKind, type HostRecord } from "./host.ts";
import type { HostCreate, HostUpdate } from "./host-body.ts";

/** Texts that a device tells of itself, or a person for it. */
const DEVICE_FIELDS = ["sys_name", "sys_descr", "sys_object_id", "sys_location", "sys_contact", "manufacturer", "model", "serial_number", "management_url"] as const;
type DescribedField = "hostname" | "description" | "virtualization" | (typeof DEVICE_FIELDS)[number];

/**
 * A host with its children, interface entries and credential assignments.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createHost(tx: WriteTransaction, input: { body: HostCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  assertVirtualizingService(tx, body.virtualization, body.network_id, "virtualization/details/service_id", actor);
  const host = addHost(tx, body, existingTags(tx, body.tags ?? [], actor), actor);
  // A new host without a list has none.
  syncChildren(tx, host, { ip_addresses: body.ip_addresses ?? [], ports: body.ports ?? [], services: body.services ?? [] }, actor);
  addInterfaces(tx, host, body, actor);
  if (body.credential_assignments !== null && body.credential_assignments !== undefined) {
    setHostAssignments(tx, host.id, host.network_id, body.credential_assignments, actor);
  }
  return host;
}

/**
 * Changes a host; child lists that are sent become exactly what is sent (specification 4.2). Fields that are left out stay.
 * @throws DomainError entity_stale, entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateHost(tx: WriteTransaction, input: { id: string; body: HostUpdate; ifMatch: string | null }, actor: CommandActor): Written {
  const { id, body } = input;
  const host = getReachable(tx, hostKind, id, actor);
  assertVersion(input.ifMatch, tx.sequenceOf(id));
  assertNotStale(host, body.expected_updated_at);
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(host, body, ["id", "network_id"]);
  assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor);
  changeHost(tx, host, body, existingTags(tx, body.tags, actor));
  syncChildren(tx, host, body, actor);
  if (body.credential_assignments !== null && body.credential_assignments !== undefined) {
    setHostAssignments(tx, id, host.network_id, body.credential_assignments, actor);
  }
  return host;
}

/**
 * Deletes a host with all that is its own.
 * @param input.cascade also what elsewhere refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeHost(tx: WriteTransaction, input: { id: string; cascade: boolean; ifMatch: string | null }, actor: CommandActor): Written {
  const host = getReachable(tx, hostKind, input.id, actor);
  assertVersion(input.ifMatch, tx.sequenceOf(input.id));
  removeRecord(tx, hostKind, input.id, input.cascade);
  return host;
}

/** A new host without what belongs to it. What it refers to is the caller's to check. @throws DomainError entity_already_exists */
export function addHost(tx: WriteTransaction, body: Pick<HostCreate, "id" | "network_id" | "name" | "hidden" | DescribedField>, tags: string[], actor: CommandActor): HostRecord {
  return tx.create(
    hostKind,
    actor.organizationId,
    {
      name: body.name,
      hostname: body.hostname ?? null,
      description: body.description ?? null,
      hidden: body.hidden ?? false,
      network_id: body.network_id,
      tags,
      source: MANUAL,
      virtualization: body.virtualization ?? null,
      ...deviceFields(body, null),
      chassis_id: null,
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/** A host's own fields after a write: what it leaves out stays. What it refers to is the caller's to check. */
export function changeHost(tx: WriteTransaction, host: HostRecord, body: Pick<HostCreate, "name" | "hidden" | DescribedField>, tags: readonly string[]): HostRecord {
  return tx.update(hostKind, host.id, {
    name: body.name,
    hidden: body.hidden ?? host.hidden,
    tags,
    hostname: body.hostname === undefined ? host.hostname : body.hostname,
    description: body.description === undefined ? host.description : body.description,
    virtualization: body.virtualization === undefined ? host.virtualization : body.virtualization,
    ...deviceFields(body, host),
  });
}

function addInterfaces(tx: WriteTransaction, host: HostRecord, body: HostCreate, actor: CommandActor): void {
  const issues: Issue[] = [];
  const positions = new Map<number, number>();
  for (const [position, item] of (body.interfaces ?? []).entries()) {
    const pointer = `/interfaces/${position}`;
    const twin = positions.get(item.if_index);
    if (twin !== undefined) issues.push({ path: `${pointer}/if_index`, message: `is the if_index of /interfaces/${twin} as well`, value: item.if_index });
    positions.set(item.if_index, position);
    if (item.host_id !== undefined && item.host_id !== host.id) issues.push({ path: `${pointer}/host_id`, message: "must be the host's own id", value: item.host_id });
    if (item.network_id !== undefined && item.network_id !== host.network_id) {
      issues.push({ path: `${pointer}/network_id`, message: "must be the host's own network_id", value: item.network_id });
    }
  }
  if (issues.length > 0) throw invalid(issues);
  for (const [position, item] of (body.interfaces ?? []).entries()) addIfEntry(tx, host, item, actor, `interfaces/${position}/`);
}

function deviceFields(body: Partial<Record<(typeof DEVICE_FIELDS)[number], string | null | undefined>>, host: HostRecord | null): Record<(typeof DEVICE_FIELDS)[number], string | null> {
  const fields = {} as Record<(typeof DEVICE_FIELDS)[number], string | null>;
  for (const name of DEVICE_FIELDS) {
    const sent = body[name];
    fields[name] = sent === undefined ? (host?.[name] ?? null) : sent;
  }
  return fields;
}

/** Optimistic locking (specification 4.2): null is no lock. @throws DomainError entity_stale */
export function assertNotStale(host: HostRecord, expected: string | null | undefined): void {
  if (expected === null || expected === undefined) return;
  const instant = parseInstant(expected) as number;
  if (formatInstant(instant) === host.updated_at) return;
  throw new DomainError("entity_stale", "The host was changed since you read it; read it again and repeat your change on what it is now.", {
    entity: "host",
    expected,
    actual: host.updated_at,
  });
}
