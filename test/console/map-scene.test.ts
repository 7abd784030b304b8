// Map geometry without a browser: drawing, hit testing, and paths between devices.

import { describe, expect, test } from "bun:test";
import { type Diagram, diagramOf, foundIn, type Topology } from "../../src/console/map/diagram.ts";
import { dotAt, sceneOf } from "../../src/console/map/scene.ts";
import { shortened } from "../../src/console/map/scene-names.ts";
import type { SceneOptions } from "../../src/console/map/scene-parts.ts";
import { wayBetween } from "../../src/console/map/shortest-way.ts";
import { Stretching, stretched, stretchOf } from "../../src/console/map/stretch.ts";
import { svgOf } from "../../src/console/map/svg.ts";
import { centred, fitted, zoomed } from "../../src/console/map/viewport.ts";

type Place = readonly [id: string, x: number, y: number, name?: string];
type Cable = readonly [one: string, other: string, number?: number];

const PLAIN: SceneOptions = {
  scale: 1,
  chosenId: null,
  way: new Set(),
  found: null,
  widthOf: (text) => text.length * 7,
};

function topologyOf(places: readonly Place[], cables: readonly Cable[]): Topology {
  return {
    nodes: places.map(([id, x, y, name = id]) => ({
      id,
      kind: "Known",
      name,
      sys_name: null,
      chassis_id: null,
      manufacturer: null,
      model: null,
      management_address: null,
      position: { x, y, placed: "layout" },
    })),
    links: cables.map(([one, other, number = 1]) => ({
      id: `${one}-${other}-${number}`,
      protocol: "Lldp",
      certainty: "Interfaces",
      is_shared: false,
      ends: [one, other].map((node_id) => ({
        node_id,
        if_entry: null,
        port: `Gi0/${number}`,
        speed_bps: 1e9,
        oper_status: "Up",
      })),
      speed_bps: 1e9,
      oper_status: "Up",
      group: [one, other].sort().join(" "),
      parallel: 1,
      evidence: [],
    })),
  };
}

const TRIANGLE = topologyOf(
  [
    ["a", 0, 0],
    ["b", 160, 0],
    ["c", 0, 120],
    ["alone", 900, 900],
  ],
  [
    ["a", "b"],
    ["b", "a", 2],
    ["a", "c"],
  ],
);

function grid(count: number): Diagram {
  const across = Math.ceil(Math.sqrt(count));
  const places = Array.from({ length: count }, (_, n): Place => {
    return [`n${n}`, (n % across) * 160, Math.floor(n / across) * 120, `device-with-a-name-${n}`];
  });
  return diagramOf(topologyOf(places, []), null);
}

describe("a map diagram", () => {
  test("gives each parallel cable a lane, whichever end it names first", () => {
    const { links } = diagramOf(TRIANGLE, null);
    expect(links.map(({ id, lane }) => [id, lane])).toEqual([
      ["a-b-1", -0.5],
      ["b-a-2", 0.5],
      ["a-c-1", 0],
    ]);
    const [one, other] = sceneOf(diagramOf(TRIANGLE, null), PLAIN).lines;
    // In parallel, not overlapping: the second one runs in the opposite direction.
    expect(one?.y1).toBe(one?.y2);
    expect(other?.y1).toBe(other?.y2);
    expect(Math.abs((one?.y1 ?? 0) - (other?.y1 ?? 0))).toBe(5);
  });

  test("of two instants shows additions and removals in place", () => {
    const before = topologyOf(
      [
        ["a", 0, 0],
        ["gone", 320, 0],
      ],
      [["a", "gone"]],
    );
    const diagram = diagramOf(TRIANGLE, before);
    expect(diagram.nodes.map(({ id, presence }) => `${id} ${presence}`)).toEqual([
      "a stayed",
      "b appeared",
      "c appeared",
      "alone appeared",
      "gone vanished",
    ]);
    const { lines, dots, names } = sceneOf(diagram, PLAIN);
    expect(lines.find(({ id }) => id === "a-gone-1")).toMatchObject({ tone: "removed", stroke: "broken", x2: 320 });
    expect(lines.find(({ id }) => id === "a-b-1")).toMatchObject({ tone: "added", stroke: "whole" });
    expect(dots.find(({ id }) => id === "gone")).toMatchObject({ isHollow: true, isBroken: true, tone: "removed" });
    expect(names.map(({ text }) => text).sort()).toEqual(["+ alone", "+ b", "+ c", "a", "− gone"]);
  });

  test("routes a cable around devices between its ends, identically from either end", () => {
    const row: readonly Place[] = [
      ["a", 0, 0],
      ["between", 160, 0],
      ["b", 320, 0],
    ];
    const bent = (cables: readonly Cable[]) => sceneOf(diagramOf(topologyOf(row, cables), null), PLAIN).lines;
    const [around] = bent([["a", "b"]]);
    expect(around?.via).toHaveLength(2);
    // At a constant distance all the way past the devices in between.
    const [leaving, arriving] = around?.via ?? [];
    expect([leaving?.x, arriving?.x]).toEqual([70, 250]);
    expect(Math.abs(leaving?.y ?? 0)).toBeGreaterThan(20);
    expect(leaving?.y).toBe(arriving?.y as number);
    const [back] = bent([["b", "a"]]);
    expect(back?.via).toEqual([...(around?.via ?? [])].reverse());
    const [one, other] = bent([
      ["a", "between"],
      ["between", "b"],
    ]);
    expect([one?.via, other?.via]).toEqual([[], []]);
  });

  test("routes no cable of a ring or mesh through another device", () => {
    for (const [count, isLinked] of [
      [24, (one: number, other: number) => other === one + 1 || (one === 0 && other === 23)],
      [12, () => true],
    ] as const) {
      const places = Array.from({ length: count }, (_, n): Place => {
        return count === 24 ? [`n${n}`, 0, n * 120] : [`n${n}`, (n % 4) * 160, Math.floor(n / 4) * 120];
      });
      const cables = places.flatMap(([one], a) =>
        places.flatMap(([other], b): Cable[] => (a < b && isLinked(a, b) ? [[one, other]] : [])),
      );
      const { lines, dots } = sceneOf(diagramOf(topologyOf(places, cables), null), PLAIN);
      const through = lines.filter(({ x1, y1, x2, y2, via }) => {
        const corners = [{ x: x1, y: y1 }, ...via, { x: x2, y: y2 }];
        return dots.some(({ x, y }) =>
          corners.slice(1).some((end, index) => {
            const start = corners[index] as { x: number; y: number };
            const length = Math.hypot(end.x - start.x, end.y - start.y);
            const along = ((x - start.x) * (end.x - start.x) + (y - start.y) * (end.y - start.y)) / length;
            const aside = Math.abs((x - start.x) * (end.y - start.y) - (y - start.y) * (end.x - start.x)) / length;
            const isAtEnd = Math.hypot(x - x1, y - y1) < 1 || Math.hypot(x - x2, y - y2) < 1;
            return !isAtEnd && along > 0 && along < length && aside < 4;
          }),
        );
      });
      expect(through.map(({ id }) => id)).toEqual([]);
    }
  });

  test("finds devices by name and address", () => {
    const named = topologyOf(
      [
        ["a", 0, 0, "Core-1"],
        ["b", 1, 1],
      ],
      [],
    );
    expect(foundIn(diagramOf(named, null), " core ")).toEqual(new Set(["a"]));
    expect(foundIn(diagramOf(named, null), "  ")).toBeNull();
  });
});

describe("a map scene", () => {
  test.each([0.05, 0.2, 0.5, 1, 2])(
    "has no overlapping labels at scale %p, and all of them if there is room",
    (scale) => {
      const { names } = sceneOf(grid(400), { ...PLAIN, scale });
      expect(names.length > 0).toBe(true);
      for (const [index, one] of names.entries())
        for (const other of names.slice(index + 1)) {
          const apart = Math.abs(one.x - other.x) * 2 >= one.width + other.width || Math.abs(one.y - other.y) >= 15;
          expect(apart).toBe(true);
        }
      if (scale === 2) expect(names).toHaveLength(400);
    },
  );

  test("always labels the selection, with its ports", () => {
    const { names, dots } = sceneOf(diagramOf(TRIANGLE, null), { ...PLAIN, chosenId: "c" });
    expect(names.filter(({ text }) => text === "Gi0/1")).toHaveLength(2);
    expect(dots.find(({ ring }) => ring !== null)?.id).toBe("c");
    const small = sceneOf(grid(400), { ...PLAIN, scale: 0.02, chosenId: "n399" });
    expect(small.names.map(({ text }) => text)).toContain("device-with-a-name-399");
  });

  test("labels all neighbors of the selection if few, shortened if necessary, and its ports once", () => {
    const star = (count: number): SceneOptions & { readonly diagram: Diagram } => {
      const around = Array.from({ length: count }, (_, n): Place => {
        return [`n${n}`, (n % 6) * 40, 120 + Math.floor(n / 6) * 30, `a-device-with-a-long-name-${n}`];
      });
      const cables = around.map(([id]): Cable => ["core", id]);
      const diagram = diagramOf(topologyOf([["core", 100, 0], ...around], cables), null);
      return { ...PLAIN, scale: 0.5, chosenId: "core", diagram };
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
    const drawn = (name: string) => sceneOf(diagramOf(topologyOf([["a", 0, 0, name]], []), null), PLAIN).names[0]?.text;
    expect(["ap-01.lan.example", "10.2.3.4", "2001:db8::1", "Rack 3.2"].map(drawn)).toEqual([
      "ap-01",
      "10.2.3.4",
      "2001:db8::1",
      "Rack 3.2",
    ]);
  });

  test("as SVG escapes markup, and omits characters invalid in XML", () => {
    const hostile = topologyOf([["a", 0, 0, '<script>"&\u0000\ud800']], []);
    const colours = {
      text: "#111",
      quiet: "#222",
      line: "#333",
      accent: "#444",
      added: "#555",
      removed: "#666",
      ground: "#fff",
    };
    const svg = svgOf(sceneOf(diagramOf(hostile, null), PLAIN), colours, "Map of <x>");
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
    const view = centred({ x: 0, y: 0, scale: 1 }, { x: 50, y: 50 }, size);
    const larger = zoomed(view, 2, { x: 100, y: 100 });
    const before = (100 - view.x) / view.scale;
    expect((100 - larger.x) / larger.scale).toBeCloseTo(before);
    expect(zoomed(larger, 1_000, { x: 0, y: 0 }).scale).toBe(4);
  });
});

describe("the path between two devices", () => {
  const ring = topologyOf(
    ["a", "b", "c", "d", "e", "alone"].map((id, n): Place => [id, n, 0]),
    [
      ["a", "b"],
      ["b", "c"],
      ["d", "c"],
      ["e", "a"],
      ["d", "e"],
    ],
  );
  const idsOf = (way: ReturnType<typeof wayBetween>) => way?.map(({ node }) => node.id) ?? null;

  test("is the one with the fewest cables, in either direction", () => {
    const diagram = diagramOf(ring, null);
    expect(idsOf(wayBetween(diagram, "a", "d"))).toEqual(["a", "e", "d"]);
    expect(idsOf(wayBetween(diagram, "d", "a"))).toEqual(["d", "e", "a"]);
    expect(wayBetween(diagram, "a", "d")?.map(({ over }) => over?.id ?? null)).toEqual([null, "e-a-1", "d-e-1"]);
    expect(idsOf(wayBetween(diagram, "a", "a"))).toEqual(["a"]);
  });

  test("uses no removed cable, and is empty without a connection", () => {
    const now = { nodes: ring.nodes, links: ring.links.filter(({ id }) => id !== "e-a-1") };
    expect(idsOf(wayBetween(diagramOf(now, ring), "a", "d"))).toEqual(["a", "b", "c", "d"]);
    expect(wayBetween(diagramOf(ring, null), "a", "alone")).toBeNull();
    expect(wayBetween(diagramOf(ring, null), "a", "nobody")).toBeNull();
  });
});

describe("rows of the map", () => {
  const wide = diagramOf(
    topologyOf(
      [
        ["a", 0, 0],
        ["b", 4_800, 240],
        ["c", -4_800, 480],
      ],
      [
        ["a", "b"],
        ["a", "c"],
      ],
    ),
    null,
  );

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
      const by = stretchOf(wide.nodes, size);
      const [before, after] = [fitted(wide.nodes, size), fitted(stretched(wide, by).nodes, size)];
      expect([by > 1, after.scale]).toEqual([true, before.scale]);
    }
  });

  test("have equal spacing for every device, cable and end", () => {
    const { nodes, links, nodeById, linkById, linksById, bends } = stretched(wide, 2);
    expect(nodes.map(({ id, x, y }) => [id, x, y])).toEqual([
      ["a", 0, 0],
      ["b", 4_800, 480],
      ["c", -4_800, 960],
    ]);
    for (const link of links) {
      expect(link.ends.map((end) => end === nodeById.get(end.id))).toEqual([true, true]);
      expect(linkById.get(link.id)).toBe(link);
      for (const { id } of link.ends) expect(linksById.get(id)).toContain(link);
    }
    expect(bends).toBe(wide.bends);
  });

  test("keep their spacing from one instant to the next, until the picture is resized", () => {
    const [tall, flat] = [
      { width: 1_000, height: 800 },
      { width: 1_000, height: 180 },
    ];
    const stretching = new Stretching();
    expect(stretching.factor(wide, { width: 0, height: 0 })).toBe(1);
    expect(stretching.factor(wide, tall)).toBe(3);
    expect(stretching.drawn(wide, tall)).toBe(stretching.drawn(wide, tall));
    expect(stretching.factor(diagramOf(TRIANGLE, null), tall)).toBe(3);
    stretching.forget();
    expect(stretching.factor(wide, flat)).toBe(2.25);
  });
});
