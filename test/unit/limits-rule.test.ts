// Rule for wall-clock limits: all come from test/support/measure/limits.ts, and no test measures speed by the clock.
// The rule is itself tested on sources that break it.

import { describe, expect, test } from "bun:test";
import type { CallExpression, Node, SourceFile } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isFunctionExpression,
  isIdentifier,
  isNumericLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { isSource, lineOf, parse, readRepository, type Tree, walk } from "../support/source/syntax.ts";

/** Functions that take a test or a hook, followed by its limit, including `test.each(…)` and the like. */
const TAKES_LIMIT = new Set(["test", "it", "beforeAll", "beforeEach", "afterAll", "afterEach"]);
/** Functions with a limit as their first argument. */
const LIMIT_SETTERS = new Set(["setDefaultTimeout", "setDefaultNavigationTimeout", "timeout"]);
/** Owner of the limits and of time measurement. */
const OWNERS = "test/support/measure/";
const COMPARISON_TOKENS = new Set([
  SyntaxKind.LessThanToken,
  SyntaxKind.LessThanEqualsToken,
  SyntaxKind.GreaterThanToken,
  SyntaxKind.GreaterThanEqualsToken,
  SyntaxKind.PlusToken,
]);

test("every wall-clock limit is in limits.ts, and no test compares the clock with a bound", async () => {
  const tree = readRepository(["test", "scripts"], (path) => isSource(path) && isTestCode(path));
  expect(Object.keys(tree).length).toBeGreaterThan(300);
  expect(await localLimits(tree)).toEqual([]);
});

describe("the limits rule", () => {
  test.each([
    ["test('a', async () => {}, 60_000);"],
    ["test.each([1])('a %p', async function () {}, 5 * 60_000);"],
    ["const WALK_MS = 400_000;\nbeforeAll(async () => {}, WALK_MS);"],
    ["const BASE_MS = 1_000;\nconst WALK_MS = 4 * BASE_MS;\ntest('a', () => {}, { timeout: WALK_MS });"],
    ["context.setDefaultTimeout(15_000);"],
    ["setDefaultTimeout(15_000);"],
    ["fetch(url, { signal: AbortSignal.timeout(30_000) });"],
    ["await heading.waitFor({ timeout: 90_000 });"],
    ["const options = ['--timeout=120000'];"],
    ["if (performance.now() - began > 20_000) throw late;"],
    ["const WAIT_MAX_MS = 10_000;\nfor (const end = performance.now() + WAIT_MAX_MS; ; ) look();"],
  ])("refuses %s", async (code) => expect(await localLimits({ "test/support/a.ts": code })).toHaveLength(1));

  test.each([
    ["import { HANG_MS } from '../measure/limits.ts';\nif (performance.now() - began > HANG_MS) throw late;"],
    ["import { LONG_TEST_HANG_MS } from './limits.ts';\ntest('a', async () => {}, LONG_TEST_HANG_MS);"],
    ["const DAY_MS = 86_400_000;\nconst then = Date.now() - 10 * DAY_MS;"],
    ["const DAY_MS = 86_400_000;\ntest('a', () => expect(clock.now()).toBe(DAY_MS));"],
    ["const timeouts = { timeoutMs: 20, retries: 1 };"],
    ["systemTimers.after(POLL_MS, look);"],
    ["expect(await processorMs(work)).toBeLessThan(300);"],
    ["const wait = (ms: number) => AbortSignal.timeout(ms);"],
    ["const end = performance.now() + forMs;\nwhile (performance.now() < end) look();"],
    ["check.timeout('a', 3);"],
  ])("accepts %s", async (code) => expect(await localLimits({ "test/support/a.ts": code })).toEqual([]));

  test("refuses a clock in a test, which would measure other load on the machine", async () => {
    const code = "const began = performance.now();";
    expect(await localLimits({ "test/api/a.test.ts": code })).toHaveLength(1);
    expect(await localLimits({ "test/support/a.ts": code, "test/support/measure/a.ts": code })).toEqual([]);
  });
});

/** Lines with their own limit and, in test files, each use of the clock. */
async function localLimits(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  for (const [path, file] of await parse(tree)) {
    if (path.startsWith(OWNERS)) continue;
    const constants = numericConstants(file);
    const isLocal = (node: Node) => isNumeric(node, constants);
    walk(file, (node) => {
      if (limitsAt(node).some(isLocal) || (isStringLiteral(node) && /^--timeout=\d/.test(node.text)))
        found.push(`${path}:${lineOf(file, node)} sets its own limit: import one from limits.ts`);
      else if (path.endsWith(".test.ts") && isClock(node))
        found.push(`${path}:${lineOf(file, node)} reads the clock: measure with test/support/measure/`);
    });
  }
  return found;
}

/** Expressions at a node that limit a duration. */
function limitsAt(node: Node): Node[] {
  if (isBinaryExpression(node) && COMPARISON_TOKENS.has(node.operatorToken.kind)) {
    // Operands compared with elapsed time, or added to the current time.
    if (readsClock(node.left)) return [node.right];
    return readsClock(node.right) ? [node.left] : [];
  }
  if (!isCallExpression(node)) return [];
  const name = nameOf(node.expression);
  const afterBody = node.arguments.slice(
    node.arguments.findIndex((argument) => isArrowFunction(argument) || isFunctionExpression(argument)) + 1,
  );
  return [
    ...(TAKES_LIMIT.has(rootOf(node)) && afterBody.length < node.arguments.length ? afterBody : []),
    ...(name !== null && LIMIT_SETTERS.has(name) ? node.arguments.slice(0, 1) : []),
    ...node.arguments
      .flatMap((argument) =>
        isObjectLiteralExpression(argument)
          ? argument.properties
              .filter(isPropertyAssignment)
              .filter(({ name: key }) => isIdentifier(key) && key.text === "timeout")
          : [],
      )
      .map(({ initializer }) => initializer),
  ];
}

/** `test` of `test.each(…)(…)` and `test.skipIf(…)(…)`; empty for other expressions. */
function rootOf(node: CallExpression): string {
  let current: Node = node;
  while (isCallExpression(current) || isPropertyAccessExpression(current)) current = current.expression;
  return isIdentifier(current) ? current.text : "";
}

function nameOf(node: Node): string | null {
  if (isPropertyAccessExpression(node)) return node.name.text;
  return isIdentifier(node) ? node.text : null;
}

/** Numeric constants declared in a file. */
function numericConstants(file: SourceFile): Set<string> {
  const constants = new Set<string>();
  walk(file, (node) => {
    if (
      isVariableDeclaration(node) &&
      isIdentifier(node.name) &&
      /^[A-Z]/.test(node.name.text) &&
      node.initializer !== undefined &&
      isNumeric(node.initializer, constants)
    )
      constants.add(node.name.text);
  });
  return constants;
}

/** Whether an expression contains a number, as a literal or as a constant of the file. */
function isNumeric(node: Node, constants: ReadonlySet<string>): boolean {
  let isFound = false;
  walk(node, (child) => {
    isFound ||= isNumericLiteral(child) || (isIdentifier(child) && constants.has(child.text));
  });
  return isFound;
}

function readsClock(node: Node): boolean {
  if (isBinaryExpression(node)) return readsClock(node.left) || readsClock(node.right);
  return isCallExpression(node) && isClock(node.expression);
}

function isClock(node: Node): boolean {
  return (
    isPropertyAccessExpression(node) &&
    isIdentifier(node.expression) &&
    node.expression.text === "performance" &&
    node.name.text === "now"
  );
}

/** Whether a file is a test, the test runner, or a proof that runs as a test. */
function isTestCode(path: string): boolean {
  return path.startsWith("test/") || path.startsWith("scripts/proof/") || path === "scripts/test.ts";
}
