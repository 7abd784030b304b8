// What the writer runs for hosts: the host itself, its children and its credential assignments, in one transaction or not at all.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { networkKind } from "../networks/network.ts";
import { refusedAtOnce, type Place } from "../offenders.ts";
import { removeRecord } from "../references.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { writeBelongings } from "./children.ts";
import { hostKind, type HostRecord } from "./host.ts";
import type { HostCreate, HostUpdate } from "./host-body.ts";
import { writeInterfaces } from "./interfaces.ts";

/** Texts that a device tells of itself, or a person for it. */
const DEVICE_FIELDS = [
  "sys_name",
  "sys_descr",
  "sys_object_id",
  "sys_location",
  "sys_contact",
  "manufacturer",
  "model",
  "serial_number",
  "management_url",
] as const;
type DescribedField = "hostname" | "description" | "virtualization" | "asset_tag" | (typeof DEVICE_FIELDS)[number];

/**
 * A host with its children, interface entries and credential assignments.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createHost(tx: WriteTransaction, input: { body: HostCreate }, actor: CommandActor): Written {
  const { body } = input;
  return refusedAtOnce(body, (whole) => {
    const host = addHost(tx, body, actor, whole);
    if (host === null) return null;
    whole.attempt(() =>
      assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
    const absent = new Set<string>();
    writeBelongings(tx, host, true, body, actor, whole, absent);
    const setNeighbors = writeInterfaces(tx, host, body.interfaces, { isNew: true, absent }, actor, whole);
    setNeighbors();
    return host;
  });
}

/**
 * Changes a host; child lists that are sent become exactly what is sent (specification 4.2). Fields that are left out stay.
 * @throws DomainError entity_stale, entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateHost(
  tx: WriteTransaction,
  input: { id: string; body: HostUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const host = getReachable(tx, hostKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertNotStale(host, body.expected_updated_at);
  assertSameIds(host, body, ["id"]);
  return refusedAtOnce(body, (whole) => {
    whole.attempt(() =>
      assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
    changeHost(tx, host, body, actor, whole);
    writeBelongings(tx, host, false, body, actor, whole, new Set());
    return host;
  });
}

/**
 * Deletes a host with all that is its own.
 * @param input.cascade also what elsewhere refers to it; else that stands in the way
 * @throws DomainError entity_not_found; precondition_failed; entity_in_use
 */
export function removeHost(
  tx: WriteTransaction,
  input: { id: string; cascade: boolean; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const host = getReachable(tx, hostKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  removeRecord(tx, hostKind, input.id, input.cascade);
  return host;
}

type OwnFields = Pick<HostCreate, "id" | "organization_id" | "name" | "hidden" | "tags" | DescribedField>;

/**
 * A new host without what belongs to it. The service that it runs on is the caller's to check.
 * @param whole the host's place in the body: gets what is wrong
 * @returns null for a host that has no place, by its network or its id: there is nothing that the rest could be checked against
 */
export function addHost(
  tx: WriteTransaction,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  whole: Place,
): HostRecord | null {
  whole.attempt(() => assertOwnOrganization(body.organization_id, actor));
  const networkId = body.network_id;
  if (networkId === undefined) whole.note({ path: "/network_id", message: "is required of a new host" });
  const isInReach =
    networkId !== undefined &&
    whole.attempt(() => getReferenced(tx, networkKind, [networkId], "network_id", actor)) !== null;
  const tags = whole.attempt(() => existingTags(tx, body.tags ?? [], actor)) ?? [];
  if (!isInReach) return null;
  return whole.attempt(() =>
    tx.create(
      hostKind,
      actor.organizationId,
      {
        name: body.name,
        hostname: body.hostname ?? null,
        description: body.description ?? null,
        hidden: body.hidden ?? false,
        network_id: networkId,
        tags,
        source: MANUAL,
        virtualization: body.virtualization ?? null,
        ...deviceFields(body, null),
        chassis_id: null,
        asset_tag: body.asset_tag ?? null,
      },
      body.id === undefined ? {} : { id: body.id },
    ),
  );
}

/** A host's own fields after a write: what it leaves out stays. The service that it runs on is the caller's to check. @param whole as addHost takes it */
export function changeHost(
  tx: WriteTransaction,
  host: HostRecord,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  whole: Place,
): HostRecord {
  whole.attempt(() => assertOwnOrganization(body.organization_id, actor));
  whole.attempt(() => assertSameIds(host, body, ["network_id"]));
  const { tags } = body;
  return tx.update(hostKind, host.id, {
    name: body.name,
    hidden: body.hidden ?? host.hidden,
    tags: (tags === undefined ? null : whole.attempt(() => existingTags(tx, tags, actor))) ?? host.tags,
    hostname: body.hostname === undefined ? host.hostname : body.hostname,
    description: body.description === undefined ? host.description : body.description,
    virtualization: body.virtualization === undefined ? host.virtualization : body.virtualization,
    ...deviceFields(body, host),
    asset_tag: body.asset_tag === undefined ? host.asset_tag : body.asset_tag,
  });
}

function deviceFields(
  body: Partial<Record<(typeof DEVICE_FIELDS)[number], string | null | undefined>>,
  host: HostRecord | null,
): Record<(typeof DEVICE_FIELDS)[number], string | null> {
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
  throw new DomainError(
    "entity_stale",
    "The host was changed since you read it; read it again and repeat your change on what it is now.",
    {
      entity: "host",
      expected,
      actual: host.updated_at,
    },
  );
}
