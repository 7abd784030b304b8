// Creation of an organization with its first network and its Owner from settings: at an unattended start and by
// subcommand.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import { hashPassword } from "../access/password.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { OrganizationCommands, OrganizationMade, OrganizationSetup } from "../resources/organizations/commands.ts";
import { Email } from "../resources/users/user.ts";
import { Name } from "../schemas/schemas.ts";
import { checkSetting } from "./checked-setting.ts";

export interface OrganizationWish {
  readonly organizationName: string;
  readonly networkName: string;
  readonly email: string;
}

/**
 * Validates the names.
 * @param prefix of their flags: `setup-` or none
 * @throws UsageError
 */
export function checkWish(wish: OrganizationWish, prefix = ""): OrganizationWish {
  return {
    organizationName: checkSetting(Name, wish.organizationName, `--${prefix}organization`),
    networkName: checkSetting(Name, wish.networkName, `--${prefix}network`),
    email: checkSetting(Email, wish.email, `--${prefix}email`),
  };
}

/**
 * @param options.onlyFirst rejects the setup if an organization exists; `reason` for the ledger
 * @throws DomainError entity_already_exists
 */
export async function makeOrganization(
  writes: WriteQueue<OrganizationCommands>,
  wish: OrganizationWish,
  password: string,
  { onlyFirst, reason }: { readonly onlyFirst: boolean; readonly reason: string | null },
): Promise<OrganizationMade> {
  const input: OrganizationSetup = { ...wish, passwordHash: await hashPassword(password, wish.email), onlyFirst };
  const { result } = await writes.run("organization.set_up", input, { ...SYSTEM_AUTHOR, reason });
  return result;
}
