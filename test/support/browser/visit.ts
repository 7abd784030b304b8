// Browser-test harness: runs the compiled executable and drives it with Chromium. Same interface as
// support/page/visit.ts; hooks of the calling file or `describe` set it up and tear it down.

import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../../src/access/role.ts";
import type { Client } from "../appliance/client.ts";
import { OWNER, PASSWORD, type Running, type Sandbox, type SetUp } from "../executable/executable.ts";
import { sandboxForAll } from "../executable/sandboxes.ts";
import { lazyProxy } from "../page/lazy-proxy.ts";
import { closeBrowser, Visitor } from "./browser.ts";

export { OWNER };

export interface OpenedPage {
  readonly visitor: Visitor;
  readonly page: Page;
}

export interface ServedAppliance extends SetUp {
  readonly sandbox: Sandbox;
  readonly running: Running;
  /** Origin of the appliance. */
  readonly url: string;
  /** With the Owner's key. */
  readonly client: Client;
  /** Adds a user with PASSWORD. */
  addUser(email: string, role: Role, networkIds?: readonly string[]): Promise<void>;
  /** Opens a page as a user with PASSWORD, in a separate browser context, which is closed after the test. */
  visitAs(email: string, path?: string, options?: BrowserContextOptions): Promise<OpenedPage>;
}

/** Adds records and users to an appliance. */
export type Fill = (appliance: ServedAppliance) => unknown;

interface Options {
  /** Arguments of `netledger serve`; called after the hooks that were registered before. */
  readonly args?: () => readonly string[];
  /** Parent of the data directory. */
  readonly parent?: string;
}

/** Serves one appliance for all tests of the calling file or `describe`. */
export function serveForAll(fill: Fill = () => {}, { args, parent }: Options = {}): ServedAppliance {
  let served: ServedAppliance;
  const visitors: Visitor[] = [];
  // Hooks run in the order of their registration: the pages close before the appliance.
  afterAll(closeBrowser);
  const sandbox = sandboxForAll(parent);
  beforeAll(async () => {
    const setUp = await sandbox.serveSetUp(args?.());
    const { url } = setUp.running;
    served = {
      ...setUp,
      sandbox,
      url,
      async addUser(email, role, networkIds = []) {
        const networks = networkIds.length === 0 ? [] : ["--networks", networkIds.join()];
        const password = ["--password-file", await sandbox.passwordFile()];
        const user = ["--email", email, "--role", role, ...networks, ...password];
        expect(await sandbox.command("user", "create", ...user)).toMatchObject({ code: 0 });
      },
      async visitAs(email, path, options) {
        const visitor = await Visitor.create(url, options);
        visitors.push(visitor);
        return { visitor, page: await visitor.signIn(email, PASSWORD, path) };
      },
    };
    await fill(served);
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.close();
  });
  return lazyProxy(() => served);
}

export interface Visit extends OpenedPage {
  readonly appliance: ServedAppliance;
  /** With the Owner's key. */
  readonly client: Client;
}

interface VisitOptions extends Options {
  /** Opened after the appliance is filled. */
  readonly path?: string;
  readonly context?: BrowserContextOptions;
}

/**
 * Like serveForAll, with one page of the Owner for all tests; the visitor's other pages are closed after each. The
 * objects may be destructured immediately: each use resolves to the current one.
 */
export function visitForAll(fill?: Fill, { path, context, ...options }: VisitOptions = {}): Visit {
  const appliance = serveForAll(fill, options);
  let opened: OpenedPage;
  beforeAll(async () => {
    const visitor = await Visitor.create(appliance.url, context);
    opened = { visitor, page: await visitor.signIn(OWNER, PASSWORD, path) };
    expect(visitor.problems()).toEqual([]);
  });
  afterEach(async () => {
    for (const page of opened.visitor.context.pages()) if (page !== opened.page) await page.close();
  });
  return {
    appliance,
    client: lazyProxy(() => appliance.client),
    visitor: lazyProxy(() => opened.visitor),
    page: lazyProxy(() => opened.page),
  };
}
