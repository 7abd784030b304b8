// Writer commands for hosts: the host, its children and its credential assignments in one transaction.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import { pickFields } from "../../base/fields.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { fromCheckedBody } from "../checked-bytes.ts";
import { assertRequired, changedValues, customFieldInput, newValues } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { type ItemPart, withCollectedIssues } from "../issues.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord } from "../record-changes.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { writeHostChildren } from "./children.ts";
import type { DeviceType } from "./device-type.ts";
import { HOST_DEFAULTS, HOST_WRITE_FIELDS, type HostRecord, hostKind } from "./host.ts";
import type { HostCreate, HostUpdate } from "./host-body.ts";
import { writeInterfaces } from "./interfaces.ts";

/**
 * Creates a host with its children, interface entries and credential assignments.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
export function createHost(tx: WriteTransaction, input: { body: HostCreate }, actor: CommandActor): Written {
  const { body } = input;
  return withCollectedIssues(body, (part) => {
    const host = addHost(tx, body, actor, part);
    if (host === null) return null;
    part.attempt(() =>
      assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
    const rejectedIds = new Set<string>();
    writeHostChildren(tx, { host, isNew: true, part, rejectedIds }, body, actor);
    const setNeighbors = writeInterfaces(tx, host, body.interfaces, { isNew: true, rejectedIds }, actor, part);
    setNeighbors();
    return host;
  });
}

/**
 * Updates a host; child lists that are sent replace the stored ones (handbook: records, "A host and its children").
 * Omitted fields keep their values.
 * @throws DomainError entity_stale, entity_reference_invalid, entity_already_exists, entity_not_found,
 * precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateHost(tx: WriteTransaction, input: ChangeInput<HostUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const host = getReachable(tx, hostKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertNotStale(host, body.expected_updated_at);
  assertSameIds(host, body, ["id"]);
  return withCollectedIssues(body, (part) => {
    part.attempt(() =>
      assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
    changeHost(tx, host, body, actor, part);
    writeHostChildren(tx, { host, isNew: false, part, rejectedIds: new Set() }, body, actor);
    return host;
  });
}

type OwnFields = Pick<
  HostCreate,
  "id" | "organization_id" | "name" | "hidden" | "tags" | "custom_fields" | (typeof HOST_WRITE_FIELDS)[number]
>;

/**
 * Adds a host without its children. The caller checks the virtualizing service.
 * @param part the host in the body; collects the errors
 * @returns null if the host's network or id is invalid: the rest cannot be validated then
 */
export function addHost(
  tx: WriteTransaction,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  part: ItemPart,
): HostRecord | null {
  part.attempt(() => assertOwnOrganization(body.organization_id, actor));
  const networkId = body.network_id;
  if (networkId === undefined) part.note({ path: "/network_id", message: "is required when creating a host" });
  const isInReach =
    networkId !== undefined &&
    part.attempt(() => getReferenced(tx, networkKind, [networkId], "network_id", actor)) !== null;
  const tags = part.attempt(() => existingTags(tx, body.tags ?? [], actor)) ?? [];
  const values = part.attempt(() => newValues(tx, customFieldInput(hostKind, body, actor, part)));
  if (!isInReach) return null;
  return part.attempt(() =>
    createRecord(tx, hostKind, body, actor, {
      name: body.name,
      network_id: networkId,
      source: MANUAL,
      ...HOST_DEFAULTS,
      ...pickFields(body, ["hidden", ...HOST_WRITE_FIELDS]),
      ...typeSource(body, "Unknown"),
      tags,
      custom_fields: values ?? undefined,
    }),
  );
}

/**
 * Sets a host's own fields; omitted ones keep their values. The caller checks the virtualizing service.
 * @param part as for addHost
 */
export function changeHost(
  tx: WriteTransaction,
  host: HostRecord,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  part: ItemPart,
): HostRecord {
  part.attempt(() => assertOwnOrganization(body.organization_id, actor));
  part.attempt(() => assertSameIds(host, body, ["network_id"]));
  const { tags } = body;
  const input = customFieldInput(hostKind, body, actor, part);
  const values = part.attempt(() => changedValues(tx, host.custom_fields, input));
  const changed = tx.update(hostKind, host.id, {
    ...pickFields(body, ["name", "hidden", ...HOST_WRITE_FIELDS]),
    ...typeSource(body, host.device_type ?? "Unknown"),
    tags: (tags === undefined ? null : part.attempt(() => existingTags(tx, tags, actor))) ?? host.tags,
    custom_fields: values ?? undefined,
  });
  part.attempt(() => assertRequired(tx, changed, input));
  return changed;
}

/** A device type changed by a write counts as set by a user. */
function typeSource({ device_type }: OwnFields, before: DeviceType): Pick<HostRecord, "device_type_source"> {
  return device_type === undefined || device_type === before ? {} : { device_type_source: "User" };
}

/** Optimistic locking (handbook: api, "Locks"): null disables the check. @throws DomainError entity_stale */
export function assertNotStale(host: HostRecord, expected: string | null | undefined): void {
  if (expected === null || expected === undefined) return;
  const instant = parseInstant(expected) as number;
  if (formatInstant(instant) === host.updated_at) return;
  throw new DomainError(
    "entity_stale",
    "The host has changed since you read it; read it again and repeat your change.",
    {
      entity: "host",
      expected,
      actual: host.updated_at,
    },
  );
}

/** Deletes the host with everything it owns. */
const removeHost = removeOne(hostKind);

export const hostCommands = {
  "host.create": fromCheckedBody(createHost),
  "host.update": fromCheckedBody(updateHost),
  "host.delete": markLongRunning(removeHost),
  "host.bulk_delete": removeEach(hostKind, removeHost),
};
export type HostCommands = CallsOf<typeof hostCommands>;
