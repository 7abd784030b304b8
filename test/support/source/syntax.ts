// TypeScript syntax trees of in-memory files and of the repository. The source tests check them.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isCallExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isNamedImports,
  isNamespaceExport,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { API, type Project } from "typescript/unstable/async";
import { scratchParent } from "../measure/scratch-parent.ts";

/** Sources by path, relative to the root of their tree, with `/`. */
export type Tree = Record<string, string>;

export interface Import {
  /** The specifier as written. */
  specifier: string;
  /** `type` is erased at run time; `worker` starts another thread; `value` and `dynamic` load the module. */
  kind: "value" | "type" | "dynamic" | "worker";
  /** Imported names, as the module exports them; empty for the whole module. */
  names: string[];
  line: number;
}

const REPOSITORY = resolve(import.meta.dir, "../../..");

/** Not source: downloaded, generated, or user data. */
const EXCLUDED_FOLDERS = new Set(["node_modules", "dist", "data", ".git"]);

/** The repository's files under the given directories or names, or all of them; `accept` filters by path. */
export function readRepository(roots: string[], accept: (path: string) => boolean): Tree {
  const tree: Tree = {};
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(REPOSITORY, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (folder === "" && (EXCLUDED_FOLDERS.has(entry.name) || (roots.length > 0 && !roots.includes(entry.name))))
        continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && accept(path)) tree[path] = readFileSync(join(REPOSITORY, path), "utf8");
    }
  };
  visit("");
  return tree;
}

/** Parsed files: several rules read the same ones. */
const parseCache = new Map<string, { readonly text: string; readonly file: SourceFile }>();

/** Parses every `.ts` and `.tsx` file of a tree; rejects if the parser skips one. */
export async function parse(tree: Tree): Promise<Map<string, SourceFile>> {
  const paths = Object.keys(tree).filter(isSource);
  await parseNew(
    tree,
    paths.filter((path) => parseCache.get(path)?.text !== tree[path]),
  );
  return new Map(paths.map((path) => [path, parseCache.get(path)?.file as SourceFile]));
}

async function parseNew(tree: Tree, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const texts = Object.fromEntries(paths.map((path) => [path, tree[path] ?? ""]));
  await inProjectOf(texts, { noLib: true, noResolve: true, types: [], jsx: "preserve" }, async ({ program }, root) => {
    for (const path of paths) {
      const file = await program.getSourceFile(join(root, path));
      if (file === undefined) throw new Error(`${path} was not parsed`);
      parseCache.set(path, { text: tree[path] ?? "", file });
    }
  });
}

/** Opens a project of all files of a tree for the duration of an action; `root` is the directory of the tree. */
export async function inProjectOf<T>(
  tree: Tree,
  compilerOptions: Readonly<Record<string, unknown>>,
  action: (project: Project, root: string) => Promise<T>,
): Promise<T> {
  // On disk: for files in memory, the compiler would ask this process for each one.
  const root = mkdtempSync(join(scratchParent(), "netledger-syntax-"));
  try {
    const files = Object.keys(tree);
    const config = JSON.stringify({ compilerOptions: { ...compilerOptions, noEmit: true }, files });
    for (const [path, text] of Object.entries({ ...tree, "tsconfig.json": config })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await inProject(join(root, "tsconfig.json"), (project) => action(project, root));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

let compiler: API | undefined;

/** Opens the project of a configuration file for the duration of an action. */
export async function inProject<T>(config: string, action: (project: Project) => Promise<T>): Promise<T> {
  // One compiler process for all: it ends with this one.
  compiler ??= new API({ cwd: REPOSITORY });
  const snapshot = await compiler.updateSnapshot({ openProjects: [config] });
  try {
    const project = snapshot.getProjects().find(({ configFileName }) => configFileName === config);
    if (project === undefined) throw new Error(`${config} was not read`);
    return await action(project);
  } finally {
    await snapshot.dispose();
    await (await compiler.updateSnapshot({ closeProjects: [config] })).dispose();
  }
}

/** Whether a path is a TypeScript file. */
export function isSource(path: string): boolean {
  return /\.tsx?$/.test(path);
}

/** Visits a node and everything below it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** First line of a node, counted from 1. */
export function lineOf(file: SourceFile, node: Node): number {
  return file.text.slice(0, node.getStart(file)).split("\n").length;
}

/** All imports of a file, including re-exports and Worker files. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = [];
  walk(file, (node) => {
    const found = importAt(node);
    if (found !== null) imports.push({ ...found, line: lineOf(file, node) });
  });
  return imports;
}

function importAt(node: Node): Omit<Import, "line"> | null {
  if (isImportDeclaration(node)) {
    const clause = node.importClause;
    const bindings = clause?.namedBindings;
    const names =
      bindings !== undefined && isNamedImports(bindings)
        ? bindings.elements.map((element) => (element.propertyName ?? element.name).text)
        : [];
    return importFrom(node.moduleSpecifier, clause?.phaseModifier === SyntaxKind.TypeKeyword ? "type" : "value", names);
  }
  if (isExportDeclaration(node)) {
    const clause = node.exportClause;
    const names =
      clause === undefined || isNamespaceExport(clause)
        ? []
        : clause.elements.map((element) => (element.propertyName ?? element.name).text);
    return importFrom(node.moduleSpecifier, node.isTypeOnly ? "type" : "value", names);
  }
  if (isImportTypeNode(node))
    return isLiteralTypeNode(node.argument) ? importFrom(node.argument.literal, "type") : null;
  if (isCallExpression(node)) {
    const loads =
      node.expression.kind === SyntaxKind.ImportKeyword ||
      (isIdentifier(node.expression) && node.expression.text === "require");
    return loads ? importFrom(node.arguments[0], "dynamic") : null;
  }
  if (isNewExpression(node) && isIdentifier(node.expression)) {
    const [first, second] = node.arguments ?? [];
    const ofThisModule = second !== undefined && isPropertyAccessExpression(second) && second.name.text === "url";
    const isWorker = node.expression.text === "Worker" || (node.expression.text === "URL" && ofThisModule);
    return isWorker ? importFrom(first, "worker") : null;
  }
  return null;
}

function importFrom(
  specifier: Node | undefined,
  kind: Import["kind"],
  names: string[] = [],
): Omit<Import, "line"> | null {
  if (specifier === undefined || !(isStringLiteral(specifier) || isNoSubstitutionTemplateLiteral(specifier)))
    return null;
  return { specifier: specifier.text, kind, names };
}
