// An appliance of its own for each test, or one for all of a file, with what makes and reads records bound to it.
// Apart from appliance.ts, which programs load that are no tests.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { newAppliance, type TestAppliance, type TestApplianceOptions } from "./appliance.ts";
import {
  addUser,
  credentialBody,
  inTransaction,
  newApiKey,
  newCredential,
  newHost,
  newIgnored,
  newMember,
  newNetwork,
  newSchedule,
  newStranger,
  newSubnet,
  newTag,
  newUser,
  newViewer,
  newVlan,
  pruned,
  transactionCount,
  versionsOf,
  writtenIn,
} from "./factories.ts";
import { holdWrites } from "./held-writes.ts";
import { keyBody, live, newIfEntry } from "./inventory.ts";
import { findingsOf, instant, newScene, tick } from "./past.ts";
import { asked, communityOf, findings, holdBack, scanned, untilEnded } from "./scans.ts";
import { clientOf, givePassword } from "./sign-in.ts";

const BOUND = {
  addUser,
  credentialBody,
  newApiKey,
  newCredential,
  newHost,
  newIgnored,
  newMember,
  newNetwork,
  newSchedule,
  newStranger,
  newSubnet,
  newTag,
  newUser,
  newViewer,
  newVlan,
  pruned,
  transactionCount,
  versionsOf,
  writingWatched,
  writtenIn,
  holdWrites,
  keyBody,
  live,
  newIfEntry,
  findingsOf,
  instant,
  newScene,
  tick,
  asked,
  communityOf,
  findings,
  holdBack,
  scanned,
  untilEnded,
  clientOf,
  givePassword,
};

/** @returns what expects that no transaction was written since */
function writingWatched(appliance: TestAppliance): () => void {
  const before = transactionCount(appliance);
  return () => expect(transactionCount(appliance)).toBe(before);
}

/** Without the appliance, which each takes first. */
type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (appliance: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

export interface ApplianceUnderTest extends TestAppliance, Bound<typeof BOUND> {
  /** Closes it, and makes another in its place. */
  renew(options?: TestApplianceOptions): Promise<void>;
  inTransaction<T>(action: (tx: WriteTransaction) => T, author?: Author): T;
}

/**
 * An appliance for each test of the file or `describe` that this is called in: made before it, closed after it. Its
 * objects and functions may be taken out of it at once, as in `const { owner, newHost } = applianceForEach()`: they
 * are those of the appliance that there is when they are used.
 *
 * @param lastly what is expected of it before it is closed, whatever the test did
 */
export function applianceForEach(options?: TestApplianceOptions, lastly?: () => void): ApplianceUnderTest {
  return underTest(beforeEach, afterEach, options, lastly);
}

/** As applianceForEach, but one for all tests. */
export function applianceForAll(options?: TestApplianceOptions): ApplianceUnderTest {
  return underTest(beforeAll, afterAll, options);
}

function underTest(
  before: typeof beforeEach,
  after: typeof afterEach,
  options?: TestApplianceOptions,
  lastly?: () => void,
): ApplianceUnderTest {
  let current: TestAppliance | null = null;
  const renew = async (given = options) => {
    await current?.close();
    current = await newAppliance(given);
  };
  before(async () => {
    current = await newAppliance(options);
  });
  after(async () => {
    try {
      lastly?.();
    } finally {
      await current?.close();
    }
  });
  const bound = { ...BOUND, inTransaction };
  return new Proxy({} as ApplianceUnderTest, {
    get: (_, name) => {
      if (name === "renew") return renew;
      const makes = Reflect.get(bound, name);
      if (makes !== undefined) return (...rest: unknown[]) => makes(current, ...rest);
      return current === null ? later(() => Reflect.get(current as TestAppliance, name)) : Reflect.get(current, name);
    },
  });
}

/** Stands for an object or a function that is not there yet. */
function later(value: () => any): unknown {
  return new Proxy(() => {}, {
    apply: (_, _this, given) => value()(...given),
    get: (_, name) => {
      const found = value()[name];
      return typeof found === "function" ? found.bind(value()) : found;
    },
    set: (_, name, to) => Reflect.set(value(), name, to),
  });
}
