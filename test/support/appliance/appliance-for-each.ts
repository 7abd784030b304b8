// Appliances per test or per file, with factories bound to them. Separate from appliance.ts, which non-test programs
// also load.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { newAppliance, type TestAppliance, type TestApplianceOptions } from "./appliance.ts";
import { APPLIANCE_FACTORIES, inTransaction, transactionCount } from "./factories.ts";
import { holdWrites } from "./held-writes.ts";
import { keyBody, live, newIfEntry } from "./inventory.ts";
import { findingsOf, instant, newScene, tick } from "./past.ts";
import { communityOf, findings, holdProbes, runScan, startScan, waitForScan } from "./scans.ts";
import { clientOf, givePassword } from "./sign-in.ts";

const BOUND = {
  ...APPLIANCE_FACTORIES,
  watchWrites,
  holdWrites,
  keyBody,
  live,
  newIfEntry,
  findingsOf,
  instant,
  newScene,
  tick,
  startScan,
  communityOf,
  findings,
  holdProbes,
  runScan,
  waitForScan,
  clientOf,
  givePassword,
};

/** @returns an assertion that no transaction was written since the call */
function watchWrites(appliance: TestAppliance): () => void {
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
 * functions may be destructured immediately, as in `const { owner, newHost } = applianceForEach()`: each use resolves
 * to the current appliance.
 *
 * @param finalChecks assertions before closing, in any outcome of the test
 */
export function applianceForEach(options?: TestApplianceOptions, finalChecks?: () => void): ApplianceUnderTest {
  return underTest(beforeEach, afterEach, options, finalChecks);
}

/** Like applianceForEach, with one appliance for all tests. */
export function applianceForAll(options?: TestApplianceOptions): ApplianceUnderTest {
  return underTest(beforeAll, afterAll, options);
}

function underTest(
  before: typeof beforeEach,
  after: typeof afterEach,
  options?: TestApplianceOptions,
  finalChecks?: () => void,
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
      finalChecks?.();
    } finally {
      await current?.close();
    }
  });
  const bound = { ...BOUND, inTransaction };
  return new Proxy({} as ApplianceUnderTest, {
    get: (_, name) => {
      if (name === "renew") return renew;
      const factory = Reflect.get(bound, name);
      if (factory !== undefined) return (...rest: unknown[]) => factory(current, ...rest);
      return current === null
        ? lazyProxy(() => Reflect.get(current as TestAppliance, name))
        : Reflect.get(current, name);
    },
  });
}

/** Proxy for an object or function that does not exist yet. */
function lazyProxy(value: () => any): unknown {
  return new Proxy(() => {}, {
    apply: (_, _this, given) => value()(...given),
    get: (_, name) => {
      const found = value()[name];
      return typeof found === "function" ? found.bind(value()) : found;
    },
    set: (_, name, newValue) => Reflect.set(value(), name, newValue),
  });
}
