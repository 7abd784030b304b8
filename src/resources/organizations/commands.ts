// Writer commands for organizations: creation with a first network and an Owner, and updates.

import type { CommandActor } from "../../access/actor.ts";
import { assertReachesAll, assertSameIds } from "../../access/reach.ts";
import { userPasswords } from "../../access/tables.ts";
import type { Written } from "../../db/kind.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { CallsOf, Conditional } from "../../db/writing/command.ts";
import type { Author } from "../../db/writing/ledger.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { EXPIRY_DEFAULTS, networkKind } from "../networks/network.ts";
import { userKind } from "../users/user.ts";
import { alreadySetUp, type OrganizationUpdate, organizationKind, organizations } from "./organization.ts";

export interface OrganizationSetup {
  readonly organizationName: string;
  readonly networkName: string;
  readonly email: string;
  /** Name of the Owner; default: the e-mail address. */
  readonly name?: string;
  /** Argon2id, PHC string format. */
  readonly passwordHash: string;
  /** Reject if an organization exists: first setup happens once. */
  readonly onlyFirst: boolean;
}

export interface CreatedOrganization {
  readonly organizationId: string;
  readonly networkId: string;
  readonly userId: string;
}

/**
 * Creates an organization with its first network and its Owner.
 * @param input.onlyFirst whether to reject a second organization
 * @throws DomainError entity_already_exists
 */
export function setUpOrganization(
  tx: WriteTransaction,
  input: OrganizationSetup,
  _author: Author,
): CreatedOrganization {
  if (input.onlyFirst && tx.db.select({ n: organizations.n }).from(organizations).limit(1).all().length > 0) {
    throw alreadySetUp();
  }
  const organizationId = tx.newId();
  tx.create(
    organizationKind,
    organizationId,
    { name: input.organizationName, require_change_reason: false },
    { id: organizationId },
  );
  const network = tx.create(networkKind, organizationId, {
    organization_id: organizationId,
    name: input.networkName,
    description: null,
    tags: [],
    stale_after_hours: null,
    ...EXPIRY_DEFAULTS,
  });
  const user = tx.create(userKind, organizationId, {
    organization_id: organizationId,
    email: input.email,
    name: input.name ?? input.email,
    role: "Owner",
    network_ids: [],
    is_enabled: true,
  });
  tx.runAfterWrite(() => {
    const row = withChecksum(userPasswords, { user_n: tx.recordN(user.id) as number, hash: input.passwordHash });
    tx.db.insert(userPasswords).values(row).run();
  });
  return { organizationId, networkId: network.id, userId: user.id };
}

/**
 * Updates the caller's organization.
 * @throws DomainError entity_access_denied, precondition_failed, validation_id_mismatch
 */
export function updateOrganization(
  tx: WriteTransaction,
  input: Conditional & { body: OrganizationUpdate },
  actor: CommandActor,
): Written {
  assertReachesAll(actor, "Changing the organization");
  const organization = tx.get(organizationKind, actor.organizationId);
  assertVersion(input.ifMatch, tx.versionOf(organization.id));
  assertSameIds(organization, input.body, ["id"]);
  const { name, require_change_reason = organization.require_change_reason } = input.body;
  return tx.update(organizationKind, organization.id, { name, require_change_reason });
}

export const organizationCommands = {
  "organization.set_up": setUpOrganization,
  "organization.update": updateOrganization,
};
export type OrganizationCommands = CallsOf<typeof organizationCommands>;
