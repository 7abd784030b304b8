// Workplaces made and closed by hooks of the calling file or `describe`. Separate from executable.ts, which programs
// outside the tests load as well.

import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { later } from "../page/later.ts";
import { ensureExecutable, Workplace } from "./executable.ts";

/** A workplace for all tests, with the executable built. @param parent of its folder */
export function workplaceForAll(parent?: string): Workplace {
  return madeAt(beforeAll, afterAll, parent);
}

/** As workplaceForAll, with a new workplace for each test. */
export function workplaceForEach(parent?: string): Workplace {
  return madeAt(beforeEach, afterEach, parent);
}

function madeAt(before: typeof beforeEach, after: typeof afterEach, parent?: string): Workplace {
  let place: Workplace;
  beforeAll(ensureExecutable);
  before(() => {
    place = new Workplace(parent);
  });
  after(() => place.close());
  return later(() => place);
}
