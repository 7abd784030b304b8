// Simulated pages in the test process: they report the same failures as Chromium, and are isolated in the same way.

import { beforeEach, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import type { Page } from "../support/page/page.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import { Visitor } from "../support/page/visitor.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("the in-process page", () => {
  const appliance = serveForAll();
  let visitor: Visitor;
  let page: Page;

  beforeEach(async () => {
    ({ visitor, page } = await appliance.openAs(OWNER, "/hosts"));
    await page.getByRole("button", { name: "New host" }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  const expectProblems = (...sentences: unknown[]) =>
    expectEventually(async () => visitor.problems(), sentences as string[]);

  test("signs in through the form", async () => {
    const otherVisitor = await Visitor.create(appliance.url);
    const otherPage = await otherVisitor.signIn(OWNER, PASSWORD, "/vlans");
    await otherPage.getByRole("heading", { name: "VLANs", level: 1 }).waitFor();
    expect(otherVisitor.problems()).toEqual([]);
    await otherVisitor.close();
  });

  test("fails on a refused request, like the browser's own console", async () => {
    await page.evaluate("fetch('/api/v1/hosts/00000000-0000-4000-8000-000000000000').then(() => null)");
    await expectProblems(
      "404 for /api/v1/hosts/00000000-0000-4000-8000-000000000000",
      "error: Failed to load resource: the server responded with a status of 404 (Not Found)",
    );
    await page.goto(`${appliance.url}/nowhere`);
    await expectProblems("404 for /nowhere", expect.stringContaining("404 (Not Found)"));
  });

  test("fails on exceptions, in a timer and in a listener, and on console output", async () => {
    await page.evaluate("setTimeout(() => { throw new Error('late'); })");
    await expectProblems("threw: late");
    await page.evaluate(
      "document.body.addEventListener('click', () => { throw new Error('clicked'); }, { once: true })",
    );
    await page.getByRole("heading", { level: 1 }).click();
    await expectProblems("threw: clicked");
    await page.evaluate("console.warn('odd', 1); console.error('wrong')");
    await expectProblems("warning: odd 1", "error: wrong");
  });

  test("fails on a request to another host, without sending it", async () => {
    await page.evaluate("fetch('http://192.0.2.1/').catch(() => null)");
    await expectProblems("requested another host: http://192.0.2.1/", expect.stringContaining("ERR_NAME_NOT_RESOLVED"));
  });

  test("blocks requests that another site would make", async () => {
    const crossOriginRequest = {
      method: "POST",
      headers: { origin: "http://elsewhere.example" },
      data: { name: "x", color: "Red" },
    };
    expect((await page.request.fetch(`${appliance.url}/api/v1/tags`, crossOriginRequest)).status()).toBe(403);
  });

  test("shares localStorage with the visitor's other tabs, and nothing with other visitors", async () => {
    const otherVisitor = await Visitor.create(appliance.url);
    const otherPage = await otherVisitor.open("/hosts");
    await otherPage.getByRole("button", { name: "Sign in" }).waitFor();
    await page.evaluate("localStorage.setItem('mine', '1'); sessionStorage.setItem('mine', '2'); window.mine = 3");
    const storageScript =
      "JSON.stringify([localStorage.getItem('mine'), sessionStorage.getItem('mine'), window.mine ?? null])";
    expect(await otherPage.evaluate(storageScript)).toBe("[null,null,null]");
    const tab = await visitor.open("/hosts");
    await tab.getByRole("button", { name: "New host" }).waitFor();
    expect(await tab.evaluate(storageScript)).toBe('["1",null,null]');
    const listenScript =
      "addEventListener('storage', ({ key, newValue }) => (window.received ??= []).push([key, newValue]))";
    for (const listener of [page, tab, otherPage]) await listener.evaluate(listenScript);
    await page.evaluate("localStorage.setItem('mine', '1'); localStorage.mine = '4'; localStorage.removeItem('mine')");
    await page.evaluate("localStorage.setItem('mine', '1')");
    const receivedEvents = (listener: Page) => listener.evaluate("JSON.stringify(window.received ?? [])");
    await expectEventually(() => receivedEvents(tab), '[["mine","4"],["mine",null],["mine","1"]]');
    expect([await receivedEvents(page), await receivedEvents(otherPage)]).toEqual(["[]", "[]"]);
    await page.reload();
    expect(await page.evaluate(storageScript)).toBe('["1","2",null]');
    await otherVisitor.close();
  });

  test("resets module state on reload, and cancels pending work", async () => {
    await page.getByRole("button", { name: "New host" }).click();
    await page.getByRole("form").waitFor();
    await page.evaluate("setTimeout(() => { throw new Error('stale'); }, 20)");
    await page.reload();
    await page.getByRole("banner").waitFor();
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 40))");
    expect(visitor.problems()).toEqual([]);
  });

  test("drops a response on reload while its body is being read", async () => {
    const responseReceived = page.waitForResponse(/\/api\/v1\/vlans/);
    await page.evaluate(`void fetch("/api/v1/vlans?limit=1").then((response) => {
      const body = response.json();
      location.reload();
      return body.then(() => sessionStorage.setItem("late", "1"));
    })`);
    await responseReceived;
    await page.getByRole("banner").waitFor();
    await page.getByRole("button", { name: "New host" }).waitFor();
    expect(await page.evaluate("sessionStorage.getItem('late')")).toBeNull();
    expect(visitor.problems()).toEqual([]);
  });

  test("navigates without loading, and back", async () => {
    await page.evaluate("window.isSame = true");
    await page.getByRole("link", { name: "VLANs" }).click();
    await page.waitForURL("**/vlans");
    await page.getByRole("heading", { name: "VLANs", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "New host" }).waitFor();
    expect([page.url(), await page.evaluate("window.isSame")]).toEqual([`${appliance.url}/hosts`, true]);
    expect(visitor.problems()).toEqual([]);
  });

  test("waits for its next request and response, by pattern or predicate", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/v1/tags?*", async (route) => {
      await released;
      await route.fulfill({ status: 201, json: {} });
    });
    const order: string[] = [];
    const request = page.waitForRequest("**/api/v1/tags?*").then((sent) => {
      order.push("request");
      return sent;
    });
    const response = page
      .waitForResponse((received) => received.url().includes("/api/v1/tags?") && received.status() === 201)
      .then((received) => {
        order.push("response");
        return received;
      });
    await page.evaluate("fetch('/api/v1/vlans?limit=1').then(() => null)");
    expect(order).toEqual([]);
    await page.evaluate("void fetch('/api/v1/tags?limit=1', { method: 'POST' })");
    expect([(await request).method(), (await request).url()]).toEqual([
      ...["POST", `${appliance.url}/api/v1/tags?limit=1`],
    ]);
    expect(order).toEqual(["request"]);
    release();
    expect([(await response).status(), (await response).ok()]).toEqual([201, true]);
    const document = page.waitForResponse(`${appliance.url}/vlans`);
    await page.goto(`${appliance.url}/vlans`);
    expect((await document).status()).toBe(200);
  });

  test("finds parents of elements, in either notation", async () => {
    const heading = page.getByRole("heading", { level: 1 });
    const parent = await heading.evaluate("(element) => element.parentElement.outerHTML");
    for (const path of ["..", "xpath=.."])
      expect(await heading.locator(path).evaluate("(element) => element.outerHTML")).toBe(parent);
    await expect(heading.locator("xpath=//main").count()).rejects.toThrow("is not supported");
  });

  test("serializes as HTML, with content rendered by its script", async () => {
    await page.evaluate("document.querySelector('main').setAttribute('data-mine', 'a & b')");
    const html = await page.content();
    expect(html).toStartWith("<!DOCTYPE html><html");
    expect(html).toContain('data-mine="a &amp; b"');
    expect(html).toEndWith("</body></html>");
  });

  test("holds a key down with repetition until released", async () => {
    await page.evaluate(
      "window.keys = []; for (const type of ['keydown', 'keyup']) addEventListener(type, (event) => window.keys.push(`${type} ${event.key} ${event.repeat}`))",
    );
    for (const key of ["ArrowLeft", "ArrowLeft"]) await page.keyboard.down(key);
    await page.keyboard.up("ArrowLeft");
    await page.keyboard.down("ArrowLeft");
    await page.keyboard.up("ArrowLeft");
    const keystroke = ["keydown ArrowLeft false", "keyup ArrowLeft false"];
    expect(await page.evaluate("window.keys")).toEqual([
      keystroke[0],
      "keydown ArrowLeft true",
      keystroke[1],
      ...keystroke,
    ]);
  });

  test("ignores clicks and keys on inert or disabled elements, and hides closed ones", async () => {
    await page.evaluate(
      `document.querySelector("main").innerHTML = '<div inert><input aria-label="Inert"></div>' +
        '<details><summary>More</summary><p>Within</p></details><p hidden>Hidden</p><p style="display: none">Gone</p>'`,
    );
    await page.evaluate("document.querySelector('[inert] input').focus()");
    await page.keyboard.type("x");
    expect(await page.getByLabel("Inert").inputValue()).toBe("");
    const visibility = () => Promise.all(["Within", "Hidden", "Gone"].map((text) => page.getByText(text).isVisible()));
    expect(await visibility()).toEqual([false, false, false]);
    await page.getByText("More").click();
    expect(await visibility()).toEqual([true, false, false]);
  });

  test("gives files to a file input, several only if it accepts them", async () => {
    await page.evaluate(
      `document.querySelector("main").innerHTML =
        '<label>One file <input type="file"></label><label>Several files <input type="file" multiple></label><input aria-label="Text">';
      window.received = [];
      document.querySelector("main").addEventListener("change", async ({ target: { files } }) =>
        window.received.push(...await Promise.all(
          [...files].map(async (file) => [file.name, file.type, await file.text()].join()))))`,
    );
    const file = (name: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(`name\r\n${name}\r\n`) });
    await page.getByLabel("One file").setInputFiles(file("a.csv"));
    await expectEventually(() => page.evaluate("window.received"), ["a.csv,text/csv,name\r\na.csv\r\n"]);
    await page.getByLabel("Several files").setInputFiles([file("b.csv"), file("c.csv")]);
    await expectEventually(() => page.evaluate("window.received.length"), 3);
    expect(await page.getByLabel("Several files").evaluate(({ files }) => [files.length, files.item(1).name])).toEqual([
      2,
      "c.csv",
    ]);
    await expect(page.getByLabel("One file").setInputFiles([file("b.csv"), file("c.csv")])).rejects.toThrow("one file");
    await expect(page.getByLabel("Text").setInputFiles(file("a.csv"))).rejects.toThrow("not a field for files");
  });

  test("leaves Tab to the page, and fails where a browser would move the focus", async () => {
    await page.evaluate("document.body.addEventListener('keydown', (event) => event.preventDefault(), { once: true })");
    await page.keyboard.press("Tab");
    await expect(page.keyboard.press("Tab")).rejects.toThrow("Tab navigation");
  });
});
