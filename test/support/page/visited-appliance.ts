// Appliance in the test process for page tests: the executable's app with its console, on the real clock, set up like
// `serveSetUp`.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import type { Role } from "../../../src/access/role.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { Instant } from "../../../src/base/instant.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { PAGE_PATHS } from "../../../src/console/url/page-paths.ts";
import { userKind } from "../../../src/resources/users/user.ts";
import {
  newUnclaimedAppliance,
  PASSWORD_HASH,
  type TestAppliance,
  type TestApplianceOptions,
  TestClock,
  TestTimers,
} from "../appliance/appliance.ts";
import { Client } from "../appliance/client.ts";
import { inTransaction, newApiKey } from "../appliance/factories.ts";
import { givePassword } from "../appliance/sign-in.ts";
import { OWNER, SET_UP_KEY } from "../executable/executable.ts";
import { builtConsole } from "./built-console.ts";
import { registerAppliance } from "./network.ts";

/** The system clock, as read by the pages. */
class SystemTestClock extends TestClock {
  override now(): Instant {
    return systemClock.now();
  }
}

class SystemTestTimers extends TestTimers {
  override after(ms: number, action: () => void): () => void {
    return systemTimers.after(ms, action);
  }
}

/** The members of `Running` and its setup that the executable's tests use, under the same names. */
export interface VisitedAppliance {
  /** The appliance itself. */
  readonly testAppliance: TestAppliance;
  readonly running: {
    /** Origin of the appliance, for visitors. */
    readonly url: string;
    /** Client with an API key. */
    withKey(key: string): Client;
  };
  readonly key: string;
  readonly networkId: string;
  readonly organizationId: string;
  /** API client with the Owner's key. */
  readonly client: Client;
  /** Adds a user with PASSWORD, as `netledger user create` does. @returns the id */
  addUser(email: string, role: Role, networkIds?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** Serves an appliance with the organization Acme, its network Main, and an Owner with PASSWORD. */
export async function serveVisited(options: Pick<TestApplianceOptions, "scanning"> = {}): Promise<VisitedAppliance> {
  const { page } = await builtConsole();
  const clock = new SystemTestClock();
  const plain = new Blob([page]);
  const file = { name: "", type: "text/html; charset=utf-8", tag: '"page"', plain, brotli: plain, gzip: plain };
  const unclaimed = newUnclaimedAppliance({
    ...options,
    clock,
    timers: new SystemTestTimers(clock),
    console: { pages: PAGE_PATHS, file: async (name) => (name === "" ? file : null) },
    peerOf: () => "127.0.0.1",
  });
  const { result: first } = await unclaimed.writes.run(
    "organization.set_up",
    { organizationName: "Acme", networkName: "Main", email: OWNER, passwordHash: PASSWORD_HASH, onlyFirst: false },
    SYSTEM_AUTHOR,
  );
  const testAppliance: TestAppliance = { ...unclaimed, first, owner: await unclaimed.signedIn(first.userId) };
  const { key } = newApiKey(testAppliance, { name: SET_UP_KEY });
  const { origin, unregister } = registerAppliance(testAppliance.handle);
  const withKey = (apiKey: string) => new Client(testAppliance.handle, { authorization: `Bearer ${apiKey}` }, origin);
  return {
    testAppliance,
    running: { url: origin, withKey },
    key,
    networkId: first.networkId,
    organizationId: first.organizationId,
    client: withKey(key),
    async addUser(email, role, networkIds = []) {
      const organizationId = first.organizationId;
      const fields = { organization_id: organizationId, email, name: email, role, is_enabled: true };
      const { id } = inTransaction(testAppliance, (tx) =>
        tx.create(userKind, organizationId, { ...fields, network_ids: networkIds }),
      );
      await givePassword(testAppliance, id);
      return id;
    },
    async close() {
      unregister();
      await testAppliance.close();
    },
  };
}
