// Organization setup from settings, with the first network and the Owner: for unattended starts and the subcommand.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import { hashPassword } from "../access/password.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type {
  CreatedOrganization,
  OrganizationCommands,
  OrganizationSetup,
} from "../resources/organizations/commands.ts";
import { Email } from "../resources/users/user.ts";
import { Name } from "../schemas/schemas.ts";
import { checkSetting } from "./checked-setting.ts";

export interface OrganizationSettings {
  readonly organizationName: string;
  readonly networkName: string;
  readonly email: string;
}

/**
 * Validates the names.
 * @param prefix of their flags: `setup-` or none
 * @throws UsageError
 */
export function validateOrganization(settings: OrganizationSettings, prefix = ""): OrganizationSettings {
  return {
    organizationName: checkSetting(Name, settings.organizationName, `--${prefix}organization`),
    networkName: checkSetting(Name, settings.networkName, `--${prefix}network`),
    email: checkSetting(Email, settings.email, `--${prefix}email`),
  };
}

/**
 * @param options.onlyFirst rejects the setup if an organization exists; `reason` for the ledger
 * @throws DomainError entity_already_exists
 */
export async function createOrganization(
  writes: WriteQueue<OrganizationCommands>,
  settings: OrganizationSettings,
  password: string,
  { onlyFirst, reason }: { readonly onlyFirst: boolean; readonly reason: string | null },
): Promise<CreatedOrganization> {
  const input: OrganizationSetup = {
    ...settings,
    passwordHash: await hashPassword(password, settings.email),
    onlyFirst,
  };
  const { result } = await writes.run("organization.set_up", input, { ...SYSTEM_AUTHOR, reason });
  return result;
}
