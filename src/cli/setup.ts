// netledger setup: creates an organization, first or additional, with its first network and its Owner.

import { defineCommand } from "./command.ts";
import { checkReason } from "./operator.ts";
import { createOrganization, validateOrganization } from "./organization-setup.ts";
import { readPasswordFile } from "./password-file.ts";
import { withStore } from "./with-store.ts";

export const setup = defineCommand(
  {
    name: "setup",
    summary: "creates an organization with its first network and its Owner.",
    always: ["data", "newOrganization", "newNetwork", "email", "passwordFile", "acceptClock"],
    maybe: ["reason"],
  },
  async (config, io) => {
    const settings = validateOrganization({
      organizationName: config.newOrganization,
      networkName: config.newNetwork,
      email: config.email,
    });
    const reason = checkReason(config.reason);
    const password = await readPasswordFile(config.passwordFile, "--password-file", settings.email, io);
    return withStore(config, io, true, async ({ writes }) => {
      const created = await createOrganization(writes, settings, password, { onlyFirst: false, reason });
      await io.print(
        `organization_id\t${created.organizationId}\nnetwork_id\t${created.networkId}\nuser_id\t${created.userId}\n`,
      );
    });
  },
);
