// Map in Chromium, on the executable: scrubbing through a change, a path by keyboard, and exporting the drawing.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { expectAccessibleWithin, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { OWNER, visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("the map", () => {
  /** Time at which core-1 had only the link to access-1. */
  let before: string;
  const { appliance, client, visitor } = visitForAll(async ({ client, networkId }) => {
    const host = (name: string) =>
      expectOk(client.post("hosts", { network_id: networkId, name, hidden: false, tags: [], ip_addresses: [] }));
    const port = (hostId: string, index: number, neighborId: string | null) =>
      expectOk(
        client.post("if-entries", {
          host_id: hostId,
          network_id: networkId,
          if_index: index,
          if_descr: `Gi1/0/${index}`,
          if_name: `Gi1/0/${index}`,
          if_type: 6,
          speed_bps: 1_000_000_000,
          admin_status: "Up",
          oper_status: "Up",
          neighbor: neighborId === null ? null : { type: "IfEntry", id: neighborId },
        }),
      );
    const core = await host("core-1");
    const access = await host("access-1");
    const printer = await host("<b>printer</b>");
    const accessUplink = await port(access.id, 1, null);
    const first = await port(core.id, 1, accessUplink.id);
    before = first.created_at;
    await port(access.id, 2, (await port(printer.id, 1, null)).id);
    await client.delete(`if-entries/${first.id}`);
    await port(core.id, 2, accessUplink.id);
  });
  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("shows the cabling at a timestamp, and additions and removals between two timestamps", async () => {
    const page = await visitor.open("/map?table=links");
    await page.getByRole("application", { name: /3 devices, 2 links/ }).waitFor();
    await page.getByRole("row", { name: /core-1 Gi1\/0\/2/ }).waitFor();
    await page.goto(`${appliance.url}/map?table=links&at=${before}`);
    await page.getByRole("application", { name: /2 devices, 1 link\./ }).waitFor();
    await page.getByRole("row", { name: /core-1 Gi1\/0\/1/ }).waitFor();
    await page.goto(`${appliance.url}/map?table=links&vs=${before}`);
    await page.getByText("3 appeared").waitFor();
    await page.getByText("1 vanished").waitFor();
    const vanished = page.getByRole("row", { name: /vanished/ });
    await expectEventually(() => vanished.count(), 1);
    await expectEventually(() => vanished.textContent(), expect.stringContaining("Gi1/0/1"));
  });

  test("finds a device, selects it and shows its path to another by keyboard", async () => {
    const page = await visitor.open("/map");
    await page.getByRole("searchbox", { name: "Find on the map" }).fill("core");
    await page.getByText("1 device found").waitFor();
    await page.keyboard.press("Enter");
    const chosen = page.getByRole("region", { name: "core-1" });
    await chosen.getByRole("cell", { name: "Gi1/0/2", exact: true }).waitFor();
    await page.getByRole("searchbox", { name: "Find on the map" }).fill("");
    await chosen.getByRole("link", { name: "Path from here" }).press("Enter");
    await page.getByRole("button", { name: "<b>printer</b>" }).press("Enter");
    await page.getByText("Path from core-1: 2 links").waitFor();
    await expectEventually(
      () => page.locator(".map-way li").allTextContents(),
      [" core-1", "Gi1/0/2 → Gi1/0/1 access-1", "Gi1/0/2 → Gi1/0/1 <b>printer</b>"],
    );
    await page.getByRole("application").focus();
    const drawing = () => page.evaluate<string>("document.querySelector('canvas').toDataURL()");
    const initial = await drawing();
    await page.keyboard.press("ArrowLeft");
    // Drawn within two frames.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect((await drawing()) === initial).toBe(false);
  });

  test("moves a device, and resets its position", async () => {
    const page = await visitor.open("/map");
    await page.getByRole("button", { name: "access-1" }).click();
    await page.getByRole("button", { name: "Move device" }).click();
    const positionSaved = () => page.waitForResponse((response) => response.request().method() === "PUT");
    const positions = async () => {
      const response = await client.get(`networks/${appliance.networkId}/map-positions`);
      return Object.values(response.body.data.nodes as JsonRecord).filter(({ placed }) => placed === "person");
    };
    const [saveResponse] = await Promise.all([
      positionSaved(),
      page.getByRole("application").click({ position: { x: 30, y: 200 } }),
    ]);
    expect(saveResponse.status()).toBe(200);
    const [first] = await positions();
    await page.getByRole("button", { name: "Reset layout" }).waitFor();
    await Promise.all([positionSaved(), page.keyboard.press("ArrowRight")]);
    expect(await positions()).toEqual([{ ...first, x: first.x + 60 }]);
    // Devices can be dragged; dragging next to them pans as usual.
    const box = await page.getByRole("application").boundingBox();
    const drag = async (from: JsonRecord, dx: number) => {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x + dx / 2, from.y);
      await page.mouse.move(from.x + dx, from.y);
      await page.mouse.up();
    };
    const dropped = { x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + 60 };
    await Promise.all([positionSaved(), page.mouse.click(dropped.x, dropped.y)]);
    const [positioned] = await positions();
    // Hit testing works only after drawing.
    let moves = 0;
    await expectEventually(async () => {
      moves += 1;
      await page.mouse.move(dropped.x + (moves % 2), dropped.y);
      return page.getByRole("application").locator("canvas").getAttribute("title");
    }, "access-1");
    await Promise.all([positionSaved(), drag(dropped, 80)]);
    const [dragged] = await positions();
    expect([dragged.x > positioned.x, Math.abs(dragged.y - positioned.y) <= 1]).toEqual([true, true]);
    await drag({ x: dropped.x, y: dropped.y + 150 }, 40);
    expect(await positions()).toEqual([dragged]);
    await Promise.all([positionSaved(), page.getByRole("button", { name: "Reset layout" }).click()]);
    expect(await positions()).toEqual([]);
    await page.goto(`${appliance.url}/map?at=${before}`);
    await page.getByRole("button", { name: "access-1" }).click();
    await page.getByRole("region", { name: "access-1" }).waitFor();
    expect(await page.getByRole("button", { name: "Move device" }).count()).toBe(0);
  });

  test("scrolls to the details of a device selected in the table, on a phone", async () => {
    const page = await visitor.open("/map");
    // At this height, three rows are a long table.
    await page.setViewportSize({ width: 360, height: 90 });
    await page.getByRole("button", { name: "access-1" }).waitFor();
    await page.getByRole("row").last().getByRole("button").first().click();
    const top = async () => (await page.locator(".map-chosen").boundingBox())?.y ?? Number.NaN;
    // Subpixel tolerance.
    await expectEventually(async () => (await top()) > -2 && (await top()) < 90, true);
  });

  test("is exported as SVG, PNG, Mermaid and GraphML", async () => {
    const page = await visitor.open("/map");
    await page.getByRole("application", { name: /3 devices/ }).waitFor();
    const exportAs = async (role: "button" | "link", name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole(role, { name, exact: true }).click(),
      ]);
      const bytes = await Bun.file(await download.path()).bytes();
      return { name: download.suggestedFilename(), bytes, text: new TextDecoder().decode(bytes) };
    };
    const svg = await exportAs("button", "SVG");
    expect(svg.name).toEndWith("-now.svg");
    expect(svg.text).toContain("&lt;b&gt;printer&lt;/b&gt;</text>");
    expect(svg.text).toMatch(/<line [^>]*stroke="rgb\(/);
    expect([...(await exportAs("button", "PNG")).bytes.subarray(1, 4)]).toEqual([...new TextEncoder().encode("PNG")]);
    expect((await exportAs("link", "Mermaid")).text).toStartWith("graph LR");
    expect((await exportAs("link", "GraphML")).text).toContain("<graphml");
  });

  test.each(["light", "dark"] as const)("is accessible in every state: %s", async (colorScheme) => {
    const contextOptions = { colorScheme, viewport: { width: 360, height: 740 } };
    const { visitor: own, page } = await appliance.visitAs(OWNER, "/map", contextOptions);
    for (const query of [
      "",
      "?table=links",
      `?vs=${before}`,
      `?at=${before}`,
      "?at=2020-01-01T00:00:00Z",
      `?from=${before}&at=${before}`,
      `?from=${before}&table=changes`,
    ]) {
      // By URL in one color scheme only: each document loads the console and axe again.
      if (colorScheme === "light") await page.goto(`${appliance.url}/map${query}`);
      else await follow(page, `/map${query}`);
      await page.getByRole("application").waitFor();
      await expectAccessibleWithin(page, query);
    }
    // Printouts are light in any color scheme.
    await page.goto(`${appliance.url}/map`);
    await page.getByRole("application", { name: /3 devices/ }).waitFor();
    const cornerColor = () =>
      page.evaluate<string>(`(() => {
          const copy = Object.assign(document.createElement("canvas"), { width: 4, height: 4 }).getContext("2d");
          copy.drawImage(document.querySelector("canvas"), 0, 0);
          return String(copy.getImageData(1, 1, 1, 1).data);
        })()`);
    // Drawn within two frames.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const onScreen = await cornerColor();
    expect(onScreen === "255,255,255,255").toBe(colorScheme === "light");
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    expect(await cornerColor()).toBe("255,255,255,255");
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    expect(await cornerColor()).toBe(onScreen);
    expect(own.problems()).toEqual([]);
  });
});
