// Map geometry without a browser: drawing, hit testing, and paths between devices.

import { describe, expect, test } from "bun:test";
import { type Diagram, diagramOf, matchesIn, type Topology } from "../../src/console/map/diagram.ts";
import { dotAt, sceneOf } from "../../src/console/map/scene.ts";
import { shortened } from "../../src/console/map/scene-names.ts";
import type { SceneOptions } from "../../src/console/map/scene-parts.ts";
import { shortestPath } from "../../src/console/map/shortest-path.ts";
import { StretchState, stretched, stretchOf } from "../../src/console/map/stretch.ts";
import { svgOf } from "../../src/console/map/svg.ts";
import { centered, fitted, zoomed } from "../../src/console/map/viewport.ts";
import { drawnLink, drawnNode } from "../support/topology/drawn.ts";

type NodePosition = readonly [id: string, x: number, y: number, name?: string];
type Cable = readonly [fromId: string, toId: string, number?: number];

const PLAIN: SceneOptions = {
  scale: 1,
  selectedId: null,
  path: new Set(),
  found: null,
  widthOf: (text) => text.length * 7,
};

/** @param text devices as `id x y` or `id x y name`, separated by commas */
const devices = (text: string): NodePosition[] =>
  text.split(", ").map((device) => {
    const [id = "", x, y, name = id] = device.split(" ");
    return [id, Number(x), Number(y), name];
  });

/** @param text cables as `id id` or `id id port`, separated by commas */
const cablesOf = (text: string): Cable[] =>
  text.split(", ").map((cable) => {
    const [fromId = "", toId = "", number = "1"] = cable.split(" ");
    return [fromId, toId, Number(number)];
  });

function topologyOf(positions: readonly NodePosition[], cables: readonly Cable[]): Topology {
  return {
    nodes: positions.map((position) => drawnNode(...position)),
    links: cables.map(([fromId, toId, number = 1]) =>
      drawnLink(`${fromId}-${toId}-${number}`, [fromId, toId], `Gi0/${number}`, "Up"),
    ),
  };
}

const TRIANGLE = topologyOf(devices("a 0 0, b 160 0, c 0 120, alone 900 900"), cablesOf("a b, b a 2, a c"));

function grid(count: number): Diagram {
  const columns = Math.ceil(Math.sqrt(count));
  const positions = Array.from({ length: count }, (_, n): NodePosition => {
    return [`n${n}`, (n % columns) * 160, Math.floor(n / columns) * 120, `device-with-a-name-${n}`];
  });
  return diagramOf(topologyOf(positions, []), null);
}

describe("a map diagram", () => {
  test("gives each parallel cable a lane, whichever end it names first", () => {
    const { links } = diagramOf(TRIANGLE, null);
    expect(links.map(({ id, lane }) => `${id} ${lane}`)).toEqual(["a-b-1 -0.5", "b-a-2 0.5", "a-c-1 0"]);
    const [first, second] = sceneOf(diagramOf(TRIANGLE, null), PLAIN).lines;
    // In parallel, not overlapping: the second one runs in the opposite direction.
    expect(first?.y1).toBe(first?.y2);
    expect(second?.y1).toBe(second?.y2);
    expect(Math.abs((first?.y1 ?? 0) - (second?.y1 ?? 0))).toBe(5);
  });

  test("of two timestamps shows additions and removals in place", () => {
    const before = topologyOf(devices("a 0 0, gone 320 0"), cablesOf("a gone"));
    const diagram = diagramOf(TRIANGLE, before);
    expect(diagram.nodes.map(({ id, presence }) => `${id} ${presence}`).join()).toBe(
      "a stayed,b appeared,c appeared,alone appeared,gone vanished",
    );
    const { lines, dots, names } = sceneOf(diagram, PLAIN);
    expect(lines.find(({ id }) => id === "a-gone-1")).toMatchObject({ tone: "removed", stroke: "dashed", x2: 320 });
    expect(lines.find(({ id }) => id === "a-b-1")).toMatchObject({ tone: "added", stroke: "solid" });
    expect(dots.find(({ id }) => id === "gone")).toMatchObject({ isHollow: true, isDashed: true, tone: "removed" });
    expect(names.map(({ text }) => text).sort()).toEqual(["+ alone", "+ b", "+ c", "a", "− gone"]);
  });

  test("routes a cable around devices between its ends, identically from either end", () => {
    const row = devices("a 0 0, between 160 0, b 320 0");
    const routedLines = (text: string) => sceneOf(diagramOf(topologyOf(row, cablesOf(text)), null), PLAIN).lines;
    const [around] = routedLines("a b");
    expect(around?.via).toHaveLength(2);
    // At a constant distance all the way past the devices in between.
    const [leaving, arriving] = around?.via ?? [];
    expect([leaving?.x, arriving?.x]).toEqual([70, 250]);
    expect(Math.abs(leaving?.y ?? 0)).toBeGreaterThan(20);
    expect(leaving?.y).toBe(arriving?.y as number);
    const [back] = routedLines("b a");
    expect(back?.via).toEqual([...(around?.via ?? [])].reverse());
    const [first, second] = routedLines("a between, between b");
    expect([first?.via, second?.via]).toEqual([[], []]);
  });

  test("routes no cable of a ring or mesh through another device", () => {
    for (const [count, isLinked] of [
      [24, (index: number, next: number) => next === index + 1 || (index === 0 && next === 23)],
      [12, () => true],
    ] as const) {
      const positions = Array.from({ length: count }, (_, n): NodePosition => {
        return count === 24 ? [`n${n}`, 0, n * 120] : [`n${n}`, (n % 4) * 160, Math.floor(n / 4) * 120];
      });
      const cables = positions.flatMap(([fromId], from) =>
        positions.flatMap(([toId], to): Cable[] => (from < to && isLinked(from, to) ? [[fromId, toId]] : [])),
      );
      const { lines, dots } = sceneOf(diagramOf(topologyOf(positions, cables), null), PLAIN);
      const crossing = lines.filter(({ x1, y1, x2, y2, via }) => {
        const corners = [{ x: x1, y: y1 }, ...via, { x: x2, y: y2 }];
        return dots.some(({ x, y }) =>
          corners.slice(1).some((end, index) => {
            const start = corners[index] as { x: number; y: number };
            const length = Math.hypot(end.x - start.x, end.y - start.y);
            const along = ((x - start.x) * (end.x - start.x) + (y - start.y) * (end.y - start.y)) / length;
            const across = Math.abs((x - start.x) * (end.y - start.y) - (y - start.y) * (end.x - start.x)) / length;
            const isAtEnd = Math.hypot(x - x1, y - y1) < 1 || Math.hypot(x - x2, y - y2) < 1;
            return !isAtEnd && along > 0 && along < length && across < 4;
          }),
        );
      });
      expect(crossing.map(({ id }) => id)).toEqual([]);
    }
  });

  test("finds devices by name and address", () => {
    const named = topologyOf(devices("a 0 0 Core-1, b 1 1"), []);
    expect(matchesIn(diagramOf(named, null), " core ")).toEqual(new Set(["a"]));
    expect(matchesIn(diagramOf(named, null), "  ")).toBeNull();
  });
});

describe("a map scene", () => {
  test.each([0.05, 0.2, 0.5, 1, 2])(
    "has no overlapping labels at scale %p, and all labels if there is room",
    (scale) => {
      const { names } = sceneOf(grid(400), { ...PLAIN, scale });
      expect(names.length > 0).toBe(true);
      for (const [index, name] of names.entries())
        for (const next of names.slice(index + 1)) {
          const isApart = Math.abs(name.x - next.x) * 2 >= name.width + next.width || Math.abs(name.y - next.y) >= 15;
          expect(isApart).toBe(true);
        }
      if (scale === 2) expect(names).toHaveLength(400);
    },
  );

  test("always labels the selection, with its ports", () => {
    const { names, dots } = sceneOf(diagramOf(TRIANGLE, null), { ...PLAIN, selectedId: "c" });
    expect(names.filter(({ text }) => text === "Gi0/1")).toHaveLength(2);
    expect(dots.find(({ ring }) => ring !== null)?.id).toBe("c");
    const small = sceneOf(grid(400), { ...PLAIN, scale: 0.02, selectedId: "n399" });
    expect(small.names.map(({ text }) => text)).toContain("device-with-a-name-399");
  });

  test("labels all neighbors of the selection if few, shortened if necessary, and its ports once", () => {
    const star = (count: number): SceneOptions & { readonly diagram: Diagram } => {
      const around = Array.from({ length: count }, (_, n): NodePosition => {
        return [`n${n}`, (n % 6) * 40, 120 + Math.floor(n / 6) * 30, `a-device-with-a-long-name-${n}`];
      });
      const cables = around.map(([id]): Cable => ["core", id]);
      const diagram = diagramOf(topologyOf([["core", 100, 0], ...around], cables), null);
      return { ...PLAIN, scale: 0.5, selectedId: "core", diagram };
    };
    const namesOf = (count: number) => {
      const { diagram, ...options } = star(count);
      return sceneOf(diagram, options).names.map(({ text }) => text);
    };
    const devices = (names: readonly string[]) => names.filter((name) => name.startsWith("a-device"));
    expect(devices(namesOf(12))).toHaveLength(12);
    expect(devices(namesOf(12)).some((name) => name === "a-device-wi…")).toBe(true);
    const many = namesOf(60);
    expect(devices(many).length).toBeLessThan(60);
    // All cables leave by the one port; the remote ports are in the table.
    expect(many.filter((name) => name === "Gi0/1").length).toBeLessThanOrEqual(1);
  });

  test("finds the device at a point: the nearest within range", () => {
    const scene = sceneOf(diagramOf(TRIANGLE, null), { ...PLAIN, scale: 0.5 });
    expect(dotAt(scene, 80, 0, 8)?.id).toBe("b");
    expect(dotAt(scene, 78, 5, 8)?.id).toBe("b");
    expect(dotAt(scene, 40, 30, 8)).toBeNull();
    expect(dotAt(scene, 1, 59, 1_000)?.id).toBe("c");
  });

  test("shortens a name by whole characters", () => {
    expect(shortened("𝔸".repeat(300), 5)).toBe(`${"𝔸".repeat(4)}…`);
    expect(shortened("core\n1")).toBe("core 1");
  });

  test("draws a name without its domain, and an address in full", () => {
    const labelOf = (name: string) =>
      sceneOf(diagramOf(topologyOf([["a", 0, 0, name]], []), null), PLAIN).names[0]?.text;
    const unchanged = ["10.2.3.4", "2001:db8::1", "Rack 3.2"];
    expect(["ap-01.lan.example", ...unchanged].map(labelOf)).toEqual(["ap-01", ...unchanged]);
  });

  test("as SVG escapes markup, and omits characters invalid in XML", () => {
    const hostile = topologyOf([["a", 0, 0, '<script>"&\u0000\ud800']], []);
    const colors = {
      ...{ text: "#111", quiet: "#222", line: "#333", accent: "#444" },
      ...{ added: "#555", removed: "#666", ground: "#fff" },
    };
    const svg = svgOf(sceneOf(diagramOf(hostile, null), PLAIN), colors, "Map of <x>");
    expect(svg).toContain("&lt;script&gt;&quot;&amp;\ufffd\ufffd</text>");
    expect(svg).toContain("<title>Map of &lt;x&gt;</title>");
    expect(svg).not.toContain("<script>");
  });
});

describe("a map view", () => {
  const size = { width: 800, height: 600 };

  test("shows everything, centered, without enlarging", () => {
    const { x, y, scale } = fitted(
      [
        { x: 0, y: 0 },
        { x: 10_000, y: 1_000 },
      ],
      size,
    );
    expect(scale).toBeCloseTo(0.066);
    expect([x + 5_000 * scale, y + 500 * scale]).toEqual([400, 300]);
    expect(fitted([{ x: 7, y: 7 }], size).scale).toBe(1.25);
    expect(fitted([], size).scale).toBe(1);
  });

  test("keeps the point under the pointer while zooming, up to a limit", () => {
    const view = centered({ x: 0, y: 0, scale: 1 }, { x: 50, y: 50 }, size);
    const larger = zoomed(view, 2, { x: 100, y: 100 });
    const before = (100 - view.x) / view.scale;
    expect((100 - larger.x) / larger.scale).toBeCloseTo(before);
    expect(zoomed(larger, 1_000, { x: 0, y: 0 }).scale).toBe(4);
  });
});

describe("the path between two devices", () => {
  const ring = topologyOf(
    ["a", "b", "c", "d", "e", "alone"].map((id, n): NodePosition => [id, n, 0]),
    cablesOf("a b, b c, d c, e a, d e"),
  );
  const idsOf = (path: ReturnType<typeof shortestPath>) => path?.map(({ node }) => node.id) ?? null;

  test("is the one with the fewest cables, in either direction", () => {
    const diagram = diagramOf(ring, null);
    expect(idsOf(shortestPath(diagram, "a", "d"))).toEqual(["a", "e", "d"]);
    expect(idsOf(shortestPath(diagram, "d", "a"))).toEqual(["d", "e", "a"]);
    expect(shortestPath(diagram, "a", "d")?.map(({ link }) => link?.id ?? null)).toEqual([null, "e-a-1", "d-e-1"]);
    expect(idsOf(shortestPath(diagram, "a", "a"))).toEqual(["a"]);
  });

  test("uses no removed cable, and is empty without a connection", () => {
    const current = { nodes: ring.nodes, links: ring.links.filter(({ id }) => id !== "e-a-1") };
    expect(idsOf(shortestPath(diagramOf(current, ring), "a", "d"))).toEqual(["a", "b", "c", "d"]);
    expect(shortestPath(diagramOf(ring, null), "a", "alone")).toBeNull();
    expect(shortestPath(diagramOf(ring, null), "a", "nobody")).toBeNull();
  });
});

describe("rows of the map", () => {
  const wide = diagramOf(topologyOf(devices("a 0 0, b 4800 240, c -4800 480"), cablesOf("a b, a c")), null);

  test("are spaced out in a picture taller than the map, and unchanged otherwise", () => {
    expect(stretchOf(wide.nodes, { width: 1_000, height: 800 })).toBe(3);
    expect(stretchOf(wide.nodes, { width: 1_000, height: 180 })).toBe(2.25);
    expect(stretchOf(wide.nodes, { width: 1_000, height: 100 })).toBe(1);
    // A few devices are not enlarged, and a single one has no rows.
    expect(stretchOf(diagramOf(TRIANGLE, null).nodes, { width: 3_000, height: 3_000 })).toBe(1.5);
    expect(stretchOf(wide.nodes.slice(0, 1), { width: 1_000, height: 800 })).toBe(1);
    expect(stretchOf([], { width: 1_000, height: 800 })).toBe(1);
  });

  test("still all fit, and use the available height", () => {
    for (const size of [
      { width: 1_000, height: 180 },
      { width: 640, height: 540 },
      { width: 3_200, height: 1_900 },
    ]) {
      const stretch = stretchOf(wide.nodes, size);
      const [before, after] = [fitted(wide.nodes, size), fitted(stretched(wide, stretch).nodes, size)];
      expect([stretch > 1, after.scale]).toEqual([true, before.scale]);
    }
  });

  test("have equal spacing for every device, cable and end", () => {
    const { nodes, links, nodeById, linkById, linksById, bends } = stretched(wide, 2);
    expect(nodes.map(({ id, x, y }) => `${id} ${x} ${y}`)).toEqual(["a 0 0", "b 4800 480", "c -4800 960"]);
    for (const link of links) {
      expect(link.ends.map((end) => end === nodeById.get(end.id))).toEqual([true, true]);
      expect(linkById.get(link.id)).toBe(link);
      for (const { id } of link.ends) expect(linksById.get(id)).toContain(link);
    }
    expect(bends).toBe(wide.bends);
  });

  test("keep their spacing from one timestamp to the next, until the picture is resized", () => {
    const tall = { width: 1_000, height: 800 };
    const flat = { width: 1_000, height: 180 };
    const stretching = new StretchState();
    expect(stretching.factor(wide, { width: 0, height: 0 })).toBe(1);
    expect(stretching.factor(wide, tall)).toBe(3);
    expect(stretching.stretchedDiagram(wide, tall)).toBe(stretching.stretchedDiagram(wide, tall));
    expect(stretching.factor(diagramOf(TRIANGLE, null), tall)).toBe(3);
    stretching.forget();
    expect(stretching.factor(wide, flat)).toBe(2.25);
  });
});
