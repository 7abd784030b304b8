// Possible fault sites in the syntax trees of src/, and the patch for each. Does not choose among them.

import ts from "typescript-5";
import { type Fault, type FaultKind, patchAt } from "./patch.ts";

/** A fault site: `after` replaces the characters from `start` to `end` of the file. */
export interface Site {
  readonly kind: FaultKind;
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

/** Maximum lines of a fault: every test catches the removal of half a program. */
const MAX_LINES = 10;

/** Files that contain only types, strings or examples. */
const NOT_CODE = /\.d\.ts$|-example\.ts$|\/error-examples\.ts$|^src\/console\/text\/|^src\/handbook\//;

/** Properties and attributes whose values are examples of any type. */
const EXAMPLES = new Set(["example", "examples"]);

/** Properties and attributes whose values are human-readable text if they are strings. */
const TEXTS = new Set(
  "alt class description detail heading help hint label message note placeholder summary text title words".split(" "),
);

const OPPOSITES = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.EqualsEqualsToken, "!="],
  [ts.SyntaxKind.ExclamationEqualsToken, "=="],
  [ts.SyntaxKind.LessThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, ">"],
]);

/** Whether a file may have faults. */
export function isPlantable(path: string): boolean {
  return /^src\/.*\.tsx?$/.test(path) && !NOT_CODE.test(path);
}

/** All sites of one file, in tree order. */
export function sitesOf(file: string, text: string): Site[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const sites: Site[] = [];
  const add = (kind: FaultKind, start: number, end: number, after: string): void => {
    const before = text.slice(start, end);
    if (before !== after && before.split("\n").length <= MAX_LINES) sites.push({ kind, file, start, end, after });
  };
  const visit = (node: ts.Node): void => {
    if (isExcluded(node)) return;
    addNegation(node, source, add);
    addRemovedCall(node, source, add);
    addConstant(node, source, add);
    addOmittedField(node, source, add);
    addSwappedArguments(node, source, add);
    if (ts.isAwaitExpression(node)) add("removed await", node.getStart(source), node.expression.getStart(source), "");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sites;
}

/** Makes the fault of a site; null if the file would not parse with it. */
export function plant({ kind, file, start, end, after }: Site, text: string): Fault | null {
  const patched = text.slice(0, start) + after + text.slice(end);
  if (patched === text || !parses(file, patched)) return null;
  return patchAt({ kind, file, start, before: text.slice(start, end), after }, text);
}

/** Whether a string is syntactically valid TypeScript. */
export function parses(file: string, text: string): boolean {
  const { diagnostics } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, jsx: ts.JsxEmit.Preserve },
  });
  return diagnostics?.length === 0;
}

type Add = (kind: FaultKind, start: number, end: number, after: string) => void;

/** Whether a node has no sites, nor do its children: types, imports, strings and examples. */
function isExcluded(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isModuleDeclaration(node)) return true;
  if (ts.isPropertyAssignment(node)) {
    const name = nameOf(node.name);
    return EXAMPLES.has(name) || (TEXTS.has(name) && isTextual(node.initializer));
  }
  if (ts.isJsxAttribute(node)) {
    const name = node.name.getText();
    return TEXTS.has(name) || EXAMPLES.has(name) || name.startsWith("aria-");
  }
  return false;
}

/** Whether an expression is a string literal, a concatenation or a conditional string. */
function isTextual(node: ts.Expression): boolean {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  if (ts.isParenthesizedExpression(node)) return isTextual(node.expression);
  if (ts.isConditionalExpression(node)) return isTextual(node.whenTrue) && isTextual(node.whenFalse);
  return ts.isBinaryExpression(node) && (isTextual(node.left) || isTextual(node.right));
}

function nameOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : "";
}

function addNegation(node: ts.Node, source: ts.SourceFile, add: Add): void {
  if (ts.isBinaryExpression(node)) {
    const opposite = OPPOSITES.get(node.operatorToken.kind);
    const operator = node.operatorToken;
    if (opposite !== undefined) add("negated condition", operator.getStart(source), operator.end, opposite);
  }
  const condition = conditionOf(node);
  if (condition === undefined) return;
  // A comparison is negated only by its operator.
  if (ts.isBinaryExpression(condition) && OPPOSITES.has(condition.operatorToken.kind)) return;
  const [start, end] = [condition.getStart(source), condition.end];
  const text = source.text.slice(start, end);
  if (ts.isPrefixUnaryExpression(condition) && condition.operator === ts.SyntaxKind.ExclamationToken)
    add("negated condition", start, end, condition.operand.getText(source));
  else if (ts.isIdentifier(condition) || ts.isPropertyAccessExpression(condition) || ts.isCallExpression(condition))
    add("negated condition", start, end, `!${text}`);
  else add("negated condition", start, end, `!(${text})`);
}

function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return node.expression;
  if (ts.isConditionalExpression(node) || ts.isForStatement(node)) return node.condition;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken)
    return node.left;
  return undefined;
}

function addRemovedCall(node: ts.Node, source: ts.SourceFile, add: Add): void {
  if (!ts.isExpressionStatement(node)) return;
  let called: ts.Expression = node.expression;
  while (ts.isAwaitExpression(called) || ts.isVoidExpression(called)) called = called.expression;
  if (!ts.isCallExpression(called) || called.expression.kind === ts.SyntaxKind.SuperKeyword) return;
  add("removed call", node.getStart(source), node.end, ";");
}

function addConstant(node: ts.Node, source: ts.SourceFile, add: Add): void {
  const isName = node.parent !== undefined && ts.isPropertyAssignment(node.parent) && node.parent.name === node;
  if (isName) return;
  const [start, end] = [node.getStart(source), node.end];
  if (node.kind === ts.SyntaxKind.TrueKeyword) add("changed constant", start, end, "false");
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add("changed constant", start, end, "true");
  else if (ts.isNumericLiteral(node)) add("changed constant", start, end, String(wrongNumber(Number(node.text))));
  else if (ts.isBigIntLiteral(node)) add("changed constant", start, end, `(${node.getText(source)} + 1n)`);
  else if (ts.isStringLiteral(node) && isMeaningful(node)) {
    const raw = node.getText(source);
    add("changed constant", start, end, `${raw.slice(0, -1)}x${raw.slice(-1)}`);
  }
}

/** Returns a wrong number: off by one for small counts, doubled for measures. */
function wrongNumber(value: number): number {
  return Number.isInteger(value) && value < 10 ? value + 1 : value * 2;
}

/** Whether a string has a meaning for the code: sentences and, in the console, displayed words do not. */
function isMeaningful(node: ts.StringLiteral): boolean {
  const { parent, text } = node;
  if (text === "" || /\s/.test(text.trim()) || ts.isExpressionStatement(parent)) return false;
  if (ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword) return false;
  const isCompared = ts.isBinaryExpression(parent) || ts.isCaseClause(parent);
  const isScreen = node.getSourceFile().fileName.startsWith("src/console/");
  return isCompared || !isScreen || !/^[A-Z]/.test(text);
}

function addOmittedField(node: ts.Node, source: ts.SourceFile, add: Add): void {
  if (!ts.isPropertyAssignment(node) && !ts.isShorthandPropertyAssignment(node)) return;
  const comma = source.text[node.end] === "," ? 1 : 0;
  add("omitted field", node.getStart(source), node.end + comma, "");
}

function addSwappedArguments(node: ts.Node, source: ts.SourceFile, add: Add): void {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
  const args = node.arguments ?? [];
  for (const [index, first] of args.entries()) {
    const second = args[index + 1];
    if (second === undefined || !canSwap(first) || !canSwap(second)) continue;
    const [start, end] = [first.getStart(source), second.end];
    const between = source.text.slice(first.end, second.getStart(source));
    // Comments between arguments belong to one of them.
    if (!/^,\s*$/.test(between)) continue;
    add("swapped arguments", start, end, second.getText(source) + between + first.getText(source));
  }
}

/** Whether swapping an argument is a realistic mistake: functions and objects are not swapped. */
function canSwap(node: ts.Expression): boolean {
  return !(
    ts.isSpreadElement(node) ||
    ts.isArrowFunction(node) ||
    ts.isFunctionExpression(node) ||
    ts.isObjectLiteralExpression(node)
  );
}
