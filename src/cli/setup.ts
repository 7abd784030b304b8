// netledger setup: makes an organization, the first or a further one, with its first network and its Owner.

import { openStore } from "../appliance.ts";
import { systemLog } from "../base/log.ts";
import { defineCommand, EXIT } from "./command.ts";
import { checkWish, makeOrganization } from "./organization-setup.ts";
import { readPasswordFile } from "./password-file.ts";

export const setup = defineCommand(
  {
    name: "setup",
    summary: "makes an organization, the first or a further one, with its first network and its Owner.",
    always: ["data", "newOrganization", "newNetwork", "email", "passwordFile", "acceptClock"],
    maybe: [],
  },
  async (config, surroundings) => {
    const wish = checkWish({ organizationName: config.newOrganization, networkName: config.newNetwork, email: config.email });
    const password = await readPasswordFile(config.passwordFile, "--password-file", surroundings);
    const store = openStore({ ...surroundings, directory: config.data, acceptClock: config.acceptClock, log: systemLog(), mayCreate: true });
    try {
      const made = await makeOrganization(store.writes, wish, password, false);
      await surroundings.print(`organization_id\t${made.organizationId}\nnetwork_id\t${made.networkId}\nuser_id\t${made.userId}\n`);
      return EXIT.done;
    } finally {
      await store.close();
    }
  },
);
