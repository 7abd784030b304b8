// Separate browser in the test process, with the interface of the Chromium driver (support/browser/browser.ts). For
// tests of visible text, requests and state, without layout or rendering.

import { PASSWORD } from "../appliance/appliance.ts";
import { Network } from "./network.ts";
import { Page } from "./page.ts";
import { SharedStorage } from "./storage.ts";

export class Visitor {
  /** State shared by all pages of the visitor. */
  readonly context: { clearCookies(): Promise<void>; newPage(): Promise<Page> };
  private readonly origin: string;
  private readonly network: Network;
  private readonly localStorage = new SharedStorage();
  private readonly pages: Page[] = [];
  private readonly onRejection = (cause: unknown) =>
    this.network.problems.push(`threw: ${cause instanceof Error ? cause.message : String(cause)}`);

  private constructor(origin: string) {
    this.origin = origin;
    this.network = new Network(origin);
    this.context = {
      clearCookies: async () => this.network.clearCookies(),
      newPage: async () => {
        const page = new Page(this.network, this.localStorage);
        this.pages.push(page);
        return page;
      },
    };
    process.on("unhandledRejection", this.onRejection);
  }

  /** @param origin origin of an appliance on the network of this process */
  static async create(origin: string): Promise<Visitor> {
    return new Visitor(origin);
  }

  /** Opens a path below the origin. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(this.origin + path);
    return page;
  }

  /** Opens a page and signs in. */
  async signIn(email: string, password: string, path = "/"): Promise<Page> {
    const page = await this.open(path);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("banner").waitFor();
    return page;
  }

  /** Opens a page as a user with PASSWORD who signed in through the API, without the form. */
  async signedIn(email: string, path = "/"): Promise<Page> {
    const headers = { origin: this.origin, "sec-fetch-site": "same-origin" };
    const data = { email, password: PASSWORD };
    const response = await this.network.requestDirectly(`${this.origin}/api/auth/login`, {
      method: "POST",
      headers,
      data,
    });
    if (!response.ok()) throw new Error(`cannot sign in ${email}: ${await response.text()}`);
    // The console sets it after a sign-in by its form.
    this.localStorage.forTab(() => {}).setItem("netledger:signed-in", "yes");
    const page = await this.open(path);
    await page.getByRole("banner").waitFor();
    return page;
  }

  /**
   * Failures since the last call: responses of 400 and above, requests to other hosts, errors and warnings of the
   * console, uncaught exceptions and rejections.
   */
  problems(): string[] {
    return this.network.problems.splice(0);
  }

  /** URLs requested from now on, in order; a live array. */
  requests(): string[] {
    const urls: string[] = [];
    this.network.onRequest((url) => urls.push(url));
    return urls;
  }

  async closeOthers(page: Page): Promise<void> {
    await Promise.all(this.pages.filter((other) => other !== page).map((other) => other.close()));
  }

  async close(): Promise<void> {
    process.off("unhandledRejection", this.onRejection);
    await Promise.all(this.pages.map((page) => page.close()));
  }
}
