// Sandboxes created and closed by hooks of the calling file or `describe`. Separate from executable.ts, which non-test
// programs also load.

import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { lazyProxy } from "../page/lazy-proxy.ts";
import { ensureExecutable, Sandbox } from "./executable.ts";

/** A sandbox for all tests, with the executable built. @param parent parent of its directory */
export function sandboxForAll(parent?: string): Sandbox {
  return sandboxHooks(beforeAll, afterAll, parent);
}

/** Like sandboxForAll, with a new sandbox for each test. */
export function sandboxForEach(parent?: string): Sandbox {
  return sandboxHooks(beforeEach, afterEach, parent);
}

function sandboxHooks(before: typeof beforeEach, after: typeof afterEach, parent?: string): Sandbox {
  let sandbox: Sandbox;
  beforeAll(ensureExecutable);
  before(() => {
    sandbox = new Sandbox(parent);
  });
  after(() => sandbox.close());
  return lazyProxy(() => sandbox);
}
