// Appliances of page tests with their visitors, set up and left by hooks of the calling file or `describe`.

import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { TestApplianceOptions } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import { OWNER } from "../executable/executable.ts";
import { later } from "./later.ts";
import type { Page } from "./page.ts";
import { serveVisited, type VisitedAppliance } from "./visited-appliance.ts";
import { Visitor } from "./visitor.ts";

export { OWNER };

export interface Arrival {
  readonly visitor: Visitor;
  readonly page: Page;
}

export interface ServedAppliance extends VisitedAppliance {
  /** Its origin. */
  readonly url: string;
  /**
   * Opens a page in a browser of its own, which is closed after the test.
   * @param password if it is not PASSWORD; it is then typed into the form
   */
  arrived(email: string, path?: string, password?: string): Promise<Arrival>;
}

/** Adds records and users to an appliance. */
export type Fill = (appliance: ServedAppliance) => unknown;

interface Options {
  /** Option of serveVisited; called after the hooks that were registered before. */
  readonly scanning?: () => NonNullable<TestApplianceOptions["scanning"]>;
}

/** An appliance for all tests of the calling file or `describe`. */
export function serveForAll(fill: Fill = () => {}, { scanning }: Options = {}): ServedAppliance {
  let served: ServedAppliance;
  const visitors: Visitor[] = [];
  beforeAll(async () => {
    const visited = await serveVisited(scanning === undefined ? {} : { scanning: scanning() });
    const { url } = visited.running;
    const arrived = async (email: string, path?: string, password?: string) => {
      const visitor = await Visitor.arrive(url);
      visitors.push(visitor);
      const signedIn = password === undefined ? visitor.signedIn(email, path) : visitor.signIn(email, password, path);
      return { visitor, page: await signedIn };
    };
    served = { ...visited, url, arrived };
    await fill(served);
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });
  afterAll(() => served.close());
  return later(() => served);
}

export interface Visit extends Arrival {
  readonly appliance: ServedAppliance;
  /** With the Owner's key. */
  readonly client: Client;
}

/**
 * As serveForAll, with one page of the Owner for all tests. The objects may be destructured at once: each use resolves
 * to the current one.
 * @param path opened once the appliance is filled
 */
export function visitForAll(fill?: Fill, { path, ...options }: Options & { readonly path?: string } = {}): Visit {
  let arrival: Arrival;
  // Hooks run in the order of their registration: the pages close before the appliance.
  afterAll(() => arrival.visitor.leave());
  const appliance = serveForAll(fill, options);
  beforeAll(async () => {
    const visitor = await Visitor.arrive(appliance.url);
    arrival = { visitor, page: await visitor.signedIn(OWNER, path) };
    expect(visitor.troubles()).toEqual([]);
  });
  return {
    appliance,
    client: later(() => appliance.client),
    visitor: later(() => arrival.visitor),
    page: later(() => arrival.page),
  };
}
