// Bidi isolation of external strings within the console's text.

import { describe, expect, test } from "bun:test";
import { isolated, selfContained } from "../../src/console/text/isolated.ts";

const [RLO, RLI, FSI, PDI] = ["\u202e", "\u2067", "\u2068", "\u2069"];

describe("a name in an isolating element", () => {
  test("loses characters that would end the isolate, and keeps balanced ones", () => {
    expect(selfContained(`${PDI}${RLO}evil`)).toBe(`${RLO}evil`);
    expect(selfContained(`a${RLI}b${PDI}c${PDI}${PDI}d`)).toBe(`a${RLI}b${PDI}cd`);
    expect(selfContained(`a\u2029${RLO}b`)).toBe(`a ${RLO}b`);
    // Otherwise the element's own PDI would end the open isolate, and nothing would end the override before it.
    expect(selfContained(`a${RLO}b${RLI}c`)).toBe(`a${RLO}b${RLI}c${PDI}`);
    expect(selfContained(`${FSI}${FSI}a${PDI}`)).toBe(`${FSI}${FSI}a${PDI}${PDI}`);
  });

  test("is otherwise unchanged", () => {
    for (const name of ["core-9", "שרת-הדפסה", `${RLO}gnp.exe`, "🏴‍☠️", ""]) expect(selfContained(name)).toBe(name);
  });
});

describe("a name in a sentence", () => {
  test("is isolated only if it would reorder adjacent words", () => {
    expect(isolated("core-9")).toBe("core-9");
    expect(isolated("Zürich, 東京")).toBe("Zürich, 東京");
    expect(isolated("שרת")).toBe(`${FSI}שרת${PDI}`);
    expect(isolated(`${PDI}${RLO}a${RLI}b\u2029c`)).toBe(`${FSI}abc${PDI}`);
  });
});
