// Workplaces created and closed by hooks of the calling file or `describe`. Separate from executable.ts, which programs
// outside the tests load as well.

import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { lazyProxy } from "../page/lazy-proxy.ts";
import { ensureExecutable, Workplace } from "./executable.ts";

/** A workplace for all tests, with the executable built. @param parent parent of its directory */
export function workplaceForAll(parent?: string): Workplace {
  return workplaceHooks(beforeAll, afterAll, parent);
}

/** Like workplaceForAll, with a new workplace for each test. */
export function workplaceForEach(parent?: string): Workplace {
  return workplaceHooks(beforeEach, afterEach, parent);
}

function workplaceHooks(before: typeof beforeEach, after: typeof afterEach, parent?: string): Workplace {
  let workplace: Workplace;
  beforeAll(ensureExecutable);
  before(() => {
    workplace = new Workplace(parent);
  });
  after(() => workplace.close());
  return lazyProxy(() => workplace);
}
