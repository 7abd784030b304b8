// Page-test harness: appliances with their visitors, set up and torn down by hooks of the calling file or `describe`.

import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { TestApplianceOptions } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import { OWNER } from "../executable/executable.ts";
import { lazyProxy } from "./lazy-proxy.ts";
import type { Page } from "./page.ts";
import { serveVisited, type VisitedAppliance } from "./visited-appliance.ts";
import { Visitor } from "./visitor.ts";

export { OWNER };

export interface OpenedPage {
  readonly visitor: Visitor;
  readonly page: Page;
}

export interface ServedAppliance extends VisitedAppliance {
  /** Origin of the appliance. */
  readonly url: string;
  /**
   * Opens a page in a separate browser, which is closed after the test.
   * @param password password to enter in the form; without one, signs in with PASSWORD without the form
   */
  openAs(email: string, path?: string, password?: string): Promise<OpenedPage>;
}

/** Adds records and users to an appliance. */
export type Fill = (appliance: ServedAppliance) => unknown;

interface Options {
  /** Option of serveVisited; evaluated after previously registered hooks have run. */
  readonly scanning?: () => NonNullable<TestApplianceOptions["scanning"]>;
}

/** An appliance for all tests of the calling file or `describe`. */
export function serveForAll(fill: Fill = () => {}, { scanning }: Options = {}): ServedAppliance {
  let served: ServedAppliance;
  const visitors: Visitor[] = [];
  beforeAll(async () => {
    const visited = await serveVisited(scanning === undefined ? {} : { scanning: scanning() });
    const { url } = visited.running;
    const openAs = async (email: string, path?: string, password?: string) => {
      const visitor = await Visitor.create(url);
      visitors.push(visitor);
      const opening = password === undefined ? visitor.signedIn(email, path) : visitor.signIn(email, password, path);
      return { visitor, page: await opening };
    };
    served = { ...visited, url, openAs };
    await fill(served);
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.close();
  });
  afterAll(() => served.close());
  return lazyProxy(() => served);
}

export interface Visit extends OpenedPage {
  readonly appliance: ServedAppliance;
  /** API client with the Owner's key. */
  readonly client: Client;
}

/**
 * Like serveForAll, with one page of the Owner for all tests; the visitor's other pages are closed after each. The
 * objects may be destructured immediately: each use resolves to the current one.
 * @param path path opened once the appliance is filled
 */
export function visitForAll(fill?: Fill, { path, ...options }: Options & { readonly path?: string } = {}): Visit {
  let opened: OpenedPage;
  // Hooks run in the order of their registration: the pages close before the appliance.
  afterAll(() => opened.visitor.close());
  const appliance = serveForAll(fill, options);
  beforeAll(async () => {
    const visitor = await Visitor.create(appliance.url);
    opened = { visitor, page: await visitor.signedIn(OWNER, path) };
    expect(visitor.problems()).toEqual([]);
  });
  afterEach(() => opened.visitor.closeOthers(opened.page));
  return {
    appliance,
    client: lazyProxy(() => appliance.client),
    visitor: lazyProxy(() => opened.visitor),
    page: lazyProxy(() => opened.page),
  };
}
