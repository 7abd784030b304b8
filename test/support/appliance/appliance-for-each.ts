// Test appliances per test or per file, with the factories bound to them. Separate from appliance.ts, which programs
// outside the tests load as well.

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

/** @returns assertion that no transaction was written since */
function writingWatched(appliance: TestAppliance): () => void {
  const before = transactionCount(appliance);
  return () => expect(transactionCount(appliance)).toBe(before);
}

/** Factory functions without their first parameter, the appliance. */
type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (appliance: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

export interface ApplianceUnderTest extends TestAppliance, Bound<typeof BOUND> {
  /** Closes the appliance and replaces it with a new one. */
  renew(options?: TestApplianceOptions): Promise<void>;
  inTransaction<T>(action: (tx: WriteTransaction) => T, author?: Author): T;
}

/**
 * Creates an appliance before each test of the calling file or `describe`, and closes it afterwards. Its objects and
 * functions may be destructured at once, as in `const { owner, newHost } = applianceForEach()`: each use resolves to
 * the current appliance.
 *
 * @param lastly assertions before closing, whatever the test did
 */
export function applianceForEach(options?: TestApplianceOptions, lastly?: () => void): ApplianceUnderTest {
  return underTest(beforeEach, afterEach, options, lastly);
}

/** As applianceForEach, with one appliance for all tests. */
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

/** Proxy for an object or function that does not exist yet. */
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
