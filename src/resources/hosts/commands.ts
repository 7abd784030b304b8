// Writer commands for hosts: the host, its children and its credential assignments in one transaction.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable, getReferenced } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import { picked } from "../../base/fields.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, takingLong } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { fromCheckedBody } from "../checked-bytes.ts";
import { assertRequired, changedValues, newValues, type Saying } from "../custom-fields/write-values.ts";
import { removeOne } from "../ignored/removal.ts";
import { type ItemPart, refusedAtOnce } from "../issues.ts";
import { networkKind } from "../networks/network.ts";
import { assertVirtualizingService } from "../services/virtualizing.ts";
import { MANUAL } from "../source.ts";
import { existingTags } from "../tags/tag.ts";
import { writeHostChildren } from "./children.ts";
import { HOST_DESCRIBED, type HostRecord, hostKind, UNSAID_HOST } from "./host.ts";
import type { HostCreate, HostUpdate } from "./host-body.ts";
import { writeInterfaces } from "./interfaces.ts";

/**
 * Creates a host with its children, interface entries and credential assignments.
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
    writeHostChildren(tx, { host, isNew: true, whole, absent }, body, actor);
    const setNeighbors = writeInterfaces(tx, host, body.interfaces, { isNew: true, absent }, actor, whole);
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
  return refusedAtOnce(body, (whole) => {
    whole.attempt(() =>
      assertVirtualizingService(tx, body.virtualization, host.network_id, "virtualization/details/service_id", actor),
    );
    changeHost(tx, host, body, actor, whole);
    writeHostChildren(tx, { host, isNew: false, whole, absent: new Set() }, body, actor);
    return host;
  });
}

type OwnFields = Pick<
  HostCreate,
  "id" | "organization_id" | "name" | "hidden" | "tags" | "custom_fields" | (typeof HOST_DESCRIBED)[number]
>;

/**
 * Adds a host without its children. The caller checks the virtualizing service.
 * @param whole the host's place in the body: collects the errors
 * @returns null if the host's network or id is invalid: the rest cannot be validated then
 */
export function addHost(
  tx: WriteTransaction,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  whole: ItemPart,
): HostRecord | null {
  whole.attempt(() => assertOwnOrganization(body.organization_id, actor));
  const networkId = body.network_id;
  if (networkId === undefined) whole.note({ path: "/network_id", message: "is required when creating a host" });
  const isInReach =
    networkId !== undefined &&
    whole.attempt(() => getReferenced(tx, networkKind, [networkId], "network_id", actor)) !== null;
  const tags = whole.attempt(() => existingTags(tx, body.tags ?? [], actor)) ?? [];
  const values = whole.attempt(() => newValues(tx, saying(body, actor, whole)));
  if (!isInReach) return null;
  return whole.attempt(() =>
    tx.create(
      hostKind,
      actor.organizationId,
      {
        name: body.name,
        network_id: networkId,
        source: MANUAL,
        ...UNSAID_HOST,
        ...picked(body, ["hidden", ...HOST_DESCRIBED]),
        tags,
        custom_fields: values ?? undefined,
      },
      body.id === undefined ? {} : { id: body.id },
    ),
  );
}

/**
 * Sets a host's own fields; omitted ones keep their values. The caller checks the virtualizing service.
 * @param whole as for addHost
 */
export function changeHost(
  tx: WriteTransaction,
  host: HostRecord,
  body: OwnFields & { readonly network_id?: string | undefined },
  actor: CommandActor,
  whole: ItemPart,
): HostRecord {
  whole.attempt(() => assertOwnOrganization(body.organization_id, actor));
  whole.attempt(() => assertSameIds(host, body, ["network_id"]));
  const { tags } = body;
  const values = whole.attempt(() => changedValues(tx, host.custom_fields, saying(body, actor, whole)));
  const changed = tx.update(hostKind, host.id, {
    ...picked(body, ["name", "hidden", ...HOST_DESCRIBED]),
    tags: (tags === undefined ? null : whole.attempt(() => existingTags(tx, tags, actor))) ?? host.tags,
    custom_fields: values ?? undefined,
  });
  whole.attempt(() => assertRequired(tx, changed, saying(body, actor, whole)));
  return changed;
}

function saying(body: OwnFields, { organizationId }: CommandActor, { pointer }: ItemPart): Saying {
  return { kind: hostKind, organizationId, said: body.custom_fields, at: pointer };
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
  "host.delete": takingLong(removeHost),
  "host.bulk_delete": removeEach(hostKind, removeHost),
};
export type HostCommands = CallsOf<typeof hostCommands>;
