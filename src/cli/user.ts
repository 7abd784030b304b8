// netledger user …: user management without signing in, for an operator who adds users or replaces lost passwords.

import { hashPassword } from "../access/password.ts";
import { ROLES } from "../access/role.ts";
import type { PasswordChange, UserChange, UserCreation } from "../resources/users/commands.ts";
import { Email, type UserRecord, userKind } from "../resources/users/user.ts";
import { Name, OneOf } from "../schemas/schemas.ts";
import { checkSetting } from "./checked-setting.ts";
import { type Command, defineCommand } from "./command.ts";
import {
  checkReason,
  networkIdsOf,
  operatorOf,
  organizationOf,
  organizationsOf,
  recordsOf,
  table,
  userByEmail,
} from "./operator.ts";
import { readPasswordFile } from "./password-file.ts";
import { withStore } from "./with-store.ts";

const list = defineCommand(
  {
    name: "user list",
    summary: "lists all users, or those of one organization.",
    always: ["data", "acceptClock"],
    maybe: ["organization"],
  },
  (config, io) =>
    withStore(config, io, false, async ({ reader }) => {
      const organizations =
        config.organization === null ? organizationsOf(reader) : [organizationOf(reader, config.organization)];
      const rows = organizations.flatMap((organization) =>
        recordsOf<UserRecord & { last_login: string | null }>(reader, userKind, organization).map((user) => [
          user.id,
          organization.name,
          user.email,
          user.name,
          user.role,
          user.is_enabled ? "enabled" : "disabled",
          user.last_login,
        ]),
      );
      await io.print(table(["id", "organization", "email", "name", "role", "state", "last_login"], rows));
    }),
);

const create = defineCommand(
  {
    name: "user create",
    summary: "creates a user.",
    always: ["data", "email", "role", "passwordFile", "acceptClock"],
    maybe: ["organization", "name", "networks", "reason"],
  },
  async (config, io) => {
    const email = checkSetting(Email, config.email, "--email");
    const role = checkSetting(OneOf(ROLES), config.role, "--role");
    const name = config.name === null ? null : checkSetting(Name, config.name, "--name");
    const reason = checkReason(config.reason);
    const password = await readPasswordFile(config.passwordFile, "--password-file", email, io);
    return withStore(config, io, false, async ({ reader, writes }) => {
      const organization = organizationOf(reader, config.organization);
      const networks = config.networks === null ? null : networkIdsOf(reader, organization, config.networks);
      const input: UserCreation = {
        body: {
          email,
          role,
          ...(name === null ? {} : { name }),
          ...(networks === null ? {} : { network_ids: networks }),
        },
        passwordHash: await hashPassword(password, email),
      };
      const { result } = await writes.run("user.create", input, operatorOf(organization.id, reason));
      await io.print(`${result.id}\n`);
    });
  },
);

const setEnabled = (name: string, summary: string, isEnabled: boolean) =>
  defineCommand({ name, summary, always: ["data", "email", "acceptClock"], maybe: ["reason"] }, (config, io) => {
    const reason = checkReason(config.reason);
    return withStore(config, io, false, async ({ reader, writes }) => {
      const { record, ifMatch, organization } = userByEmail(reader, config.email);
      const { id, email, role } = record;
      const input: UserChange = { id, body: { email, role, is_enabled: isEnabled }, passwordHash: null, ifMatch };
      await writes.run("user.update", input, operatorOf(organization.id, reason));
    });
  });

const password = defineCommand(
  {
    name: "user password",
    summary: "sets a new password for a user and ends the user's sessions.",
    always: ["data", "email", "passwordFile", "acceptClock"],
    maybe: ["reason"],
  },
  async (config, io) => {
    const reason = checkReason(config.reason);
    const newPassword = await readPasswordFile(config.passwordFile, "--password-file", config.email, io);
    return withStore(config, io, false, async ({ reader, writes }) => {
      const { record, organization } = userByEmail(reader, config.email);
      const input: PasswordChange = {
        id: record.id,
        passwordHash: await hashPassword(newPassword, record.email),
        keptHash: null,
      };
      await writes.run("user.set_password", input, operatorOf(organization.id, reason));
    });
  },
);

export const userCliCommands: readonly Command[] = [
  list,
  create,
  setEnabled("user disable", "disables a user and the user's keys, and ends the user's sessions.", false),
  setEnabled("user enable", "enables a disabled user again.", true),
  password,
];
