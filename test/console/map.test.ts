// Map in Chromium, on the executable: scrubbing through a change, a path by keyboard, and exporting the drawing.

import { describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { expectAccessibleWithin, hasChromium, settles } from "../support/browser/browser.ts";
import { OWNER, visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("the map", () => {
  /** Time at which core-1 had only the link to access-1. */
  let before: string;
  const { appliance, client, visitor } = visitForAll(async ({ client, networkId }) => {
    const host = (name: string) =>
      made(client.post("hosts", { network_id: networkId, name, hidden: false, tags: [], ip_addresses: [] }));
    const port = (hostId: string, index: number, far: string | null) =>
      made(
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
          neighbor: far === null ? null : { type: "IfEntry", id: far },
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

  test("shows the cabling of an instant, and additions and removals between two", async () => {
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
    await settles(() => vanished.count(), 1);
    await settles(() => vanished.textContent(), expect.stringContaining("Gi1/0/1"));
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("is operated by keyboard: a device is found, selected, and its path to another read", async () => {
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
    await settles(
      () => page.locator(".map-way li").allTextContents(),
      [" core-1", "Gi1/0/2 → Gi1/0/1 access-1", "Gi1/0/2 → Gi1/0/1 <b>printer</b>"],
    );
    await page.getByRole("application").focus();
    const seen = () => page.evaluate<string>("document.querySelector('canvas').toDataURL()");
    const whole = await seen();
    await page.keyboard.press("ArrowLeft");
    // Drawn within two frames.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect((await seen()) === whole).toBe(false);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("moves a device, and resets its position", async () => {
    const page = await visitor.open("/map");
    await page.getByRole("button", { name: "access-1" }).click();
    await page.getByRole("button", { name: "Move it" }).click();
    const written = () => page.waitForResponse((response) => response.request().method() === "PUT");
    const positions = async () => {
      const answer = await client.get(`networks/${appliance.networkId}/map-positions`);
      return Object.values(answer.body.data.nodes as Wire).filter(({ placed }) => placed === "person");
    };
    const [pressed] = await Promise.all([
      written(),
      page.getByRole("application").click({ position: { x: 30, y: 200 } }),
    ]);
    expect(pressed.status()).toBe(200);
    const [first] = await positions();
    await page.getByRole("button", { name: "Reset layout" }).waitFor();
    await Promise.all([written(), page.keyboard.press("ArrowRight")]);
    expect(await positions()).toEqual([{ ...first, x: first.x + 60 }]);
    // Devices can be dragged; dragging next to them pans as usual.
    const picture = await page.getByRole("application").boundingBox();
    const drag = async (from: Wire, dx: number) => {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x + dx / 2, from.y);
      await page.mouse.move(from.x + dx, from.y);
      await page.mouse.up();
    };
    const dropped = { x: (picture?.x ?? 0) + 60, y: (picture?.y ?? 0) + 60 };
    await Promise.all([written(), page.mouse.click(dropped.x, dropped.y)]);
    const [put] = await positions();
    // Hit testing works only after drawing.
    let moves = 0;
    await settles(async () => {
      moves += 1;
      await page.mouse.move(dropped.x + (moves % 2), dropped.y);
      return page.getByRole("application").locator("canvas").getAttribute("title");
    }, "access-1");
    await Promise.all([written(), drag(dropped, 80)]);
    const [carried] = await positions();
    expect([carried.x > put.x, Math.abs(carried.y - put.y) <= 1]).toEqual([true, true]);
    await drag({ x: dropped.x, y: dropped.y + 150 }, 40);
    expect(await positions()).toEqual([carried]);
    await Promise.all([written(), page.getByRole("button", { name: "Reset layout" }).click()]);
    expect(await positions()).toEqual([]);
    await page.goto(`${appliance.url}/map?at=${before}`);
    await page.getByRole("button", { name: "access-1" }).click();
    await page.getByRole("region", { name: "access-1" }).waitFor();
    expect(await page.getByRole("button", { name: "Move it" }).count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("on a phone scrolls to what was selected in the table below it", async () => {
    const page = await visitor.open("/map");
    // At this height, three rows are a long table.
    await page.setViewportSize({ width: 360, height: 90 });
    await page.getByRole("button", { name: "access-1" }).waitFor();
    await page.getByRole("row").last().getByRole("button").first().click();
    const top = async () => (await page.locator(".map-chosen").boundingBox())?.y ?? Number.NaN;
    // Subpixel tolerance.
    await settles(async () => (await top()) > -2 && (await top()) < 90, true);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("is exported as SVG, PNG, Mermaid and GraphML", async () => {
    const page = await visitor.open("/map");
    await page.getByRole("application", { name: /3 devices/ }).waitFor();
    const saved = async (role: "button" | "link", name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole(role, { name, exact: true }).click(),
      ]);
      const bytes = await Bun.file(await download.path()).bytes();
      return { name: download.suggestedFilename(), bytes, text: new TextDecoder().decode(bytes) };
    };
    const svg = await saved("button", "SVG");
    expect(svg.name).toEndWith("-now.svg");
    expect(svg.text).toContain("&lt;b&gt;printer&lt;/b&gt;</text>");
    expect(svg.text).toMatch(/<line [^>]*stroke="rgb\(/);
    expect([...(await saved("button", "PNG")).bytes.subarray(1, 4)]).toEqual([...new TextEncoder().encode("PNG")]);
    expect((await saved("link", "Mermaid")).text).toStartWith("graph LR");
    expect((await saved("link", "GraphML")).text).toContain("<graphml");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test.each(["light", "dark"] as const)("is accessible, populated, comparing and empty: %s", async (colorScheme) => {
    const look = { colorScheme, viewport: { width: 360, height: 740 } };
    const { visitor: own, page } = await appliance.arrived(OWNER, "/map", look);
    for (const address of [
      "",
      "?table=links",
      `?vs=${before}`,
      `?at=${before}`,
      "?at=2020-01-01T00:00:00Z",
      `?from=${before}&at=${before}`,
      `?from=${before}&table=changes`,
    ]) {
      await page.goto(`${appliance.url}/map${address}`);
      await page.getByRole("application").waitFor();
      await expectAccessibleWithin(page, address);
    }
    // Printouts are light, whatever the color scheme.
    await page.goto(`${appliance.url}/map`);
    await page.getByRole("application", { name: /3 devices/ }).waitFor();
    const corner = () =>
      page.evaluate<string>(`(() => {
          const copy = Object.assign(document.createElement("canvas"), { width: 4, height: 4 }).getContext("2d");
          copy.drawImage(document.querySelector("canvas"), 0, 0);
          return String(copy.getImageData(1, 1, 1, 1).data);
        })()`);
    // Drawn within two frames.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const onScreen = await corner();
    expect(onScreen === "255,255,255,255").toBe(colorScheme === "light");
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    expect(await corner()).toBe("255,255,255,255");
    await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
    expect(await corner()).toBe(onScreen);
    expect(own.troubles()).toEqual([]);
  });
});
