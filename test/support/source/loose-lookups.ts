// Lookups in objects by keys unknown to the compiler, found by type. Such a lookup also finds inherited properties
// (`constructor`, `__proto__`), unless limited to own ones.

import { join, resolve } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isDeleteExpression,
  isElementAccessExpression,
  isIdentifier,
  isNumericLiteral,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { type Checker, type Project, type Type, TypeFlags } from "typescript/unstable/async";
import { inProject, inProjectOf, isSource, lineOf, type Tree, walk } from "./syntax.ts";

export interface LooseLookup {
  /** Path relative to the root of the tree. */
  readonly path: string;
  readonly line: number;
  readonly code: string;
  readonly node: Node;
}

const ROOT = resolve(import.meta.dir, "../../..");

/** Lookups in files of the repository below a directory. @param config tsconfig file of the files' project */
export function looseLookupsIn(config: string, folder: string): Promise<LooseLookup[]> {
  return inProject(join(ROOT, config), (project) => lookups(project, ROOT, (path) => path.startsWith(folder)));
}

/** Lookups in a tree of files held in memory. */
export function looseLookupsOf(tree: Tree): Promise<LooseLookup[]> {
  const options = { lib: ["ESNext"], noUncheckedIndexedAccess: true, strict: true, types: [] };
  return inProjectOf(tree, options, (project, root) => lookups(project, root, () => true));
}

async function lookups(project: Project, root: string, isIncluded: (path: string) => boolean): Promise<LooseLookup[]> {
  const found: LooseLookup[] = [];
  for (const file of project.rootFiles) {
    const path = file.slice(root.length + 1);
    if (isSource(path) && isIncluded(path)) found.push(...(await lookupsOfFile(project, file, path)));
  }
  return found;
}

async function lookupsOfFile({ program, checker }: Project, file: string, path: string): Promise<LooseLookup[]> {
  const source = await program.getSourceFile(file);
  if (source === undefined) throw new Error(`${path} was not parsed`);
  const candidates: Lookup[] = [];
  walk(source, (node) => candidates.push(...lookupAt(node)));
  const keys = await typesAt(
    checker,
    candidates.map(({ key }) => key),
  );
  const open = candidates.flatMap((lookup, index) =>
    isOpen(keys[index]) ? [{ ...lookup, keyType: keys[index] }] : [],
  );
  const objects = await typesAt(
    checker,
    open.map(({ object }) => object),
  );
  const found: LooseLookup[] = [];
  for (const [index, { node, keyType }] of open.entries())
    if (await mayInherit(checker, objects[index], keyType))
      found.push({ path, line: lineOf(source, node), code: codeOf(source, node), node });
  return found;
}

/** Whether the type admits any string. */
function isOpen(type: Type | undefined): boolean {
  const open = TypeFlags.String | TypeFlags.Any | TypeFlags.Unknown | TypeFlags.TypeParameter;
  return type === undefined || (type.flags & open) !== 0;
}

/** Whether the object's keys are unknown. A type parameter for a key may have known values. */
async function mayInherit(checker: Checker, object: Type | undefined, key: Type | undefined): Promise<boolean> {
  if (object === undefined) return true;
  if ((object.flags & TypeFlags.Any) === 0 && (await checker.isArrayLikeType(object))) return false;
  if (key === undefined || (key.flags & TypeFlags.TypeParameter) === 0) return true;
  return (await checker.getIndexInfosOfType(object)).length > 0;
}

interface Lookup {
  readonly node: Node;
  readonly object: Node;
  readonly key: Node;
}

/** `object[key]` in a read, `key in object`, and `{ [key]: value } = object`. */
function lookupAt(node: Node): Lookup[] {
  if (isElementAccessExpression(node)) {
    const { expression: object, argumentExpression: key } = node;
    return isWritten(node) || isStringLiteral(key) || isNumericLiteral(key) ? [] : [{ node, object, key }];
  }
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    return isStringLiteral(node.left) ? [] : [{ node, object: node.right, key: node.left }];
  if (isBindingElement(node) && node.propertyName !== undefined && isComputedPropertyName(node.propertyName)) {
    // A property that is only excluded from the rest is not read.
    const isExcluded = node.name !== undefined && isIdentifier(node.name) && node.name.text.startsWith("_");
    return isExcluded ? [] : [{ node, object: node.parent, key: node.propertyName.expression }];
  }
  return [];
}

/** Whether a property is only assigned or deleted. */
function isWritten(node: Node): boolean {
  const { parent } = node;
  if (isDeleteExpression(parent)) return true;
  return isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === SyntaxKind.EqualsToken;
}

async function typesAt(checker: Checker, nodes: readonly Node[]): Promise<ReadonlyArray<Type | undefined>> {
  return nodes.length === 0 ? [] : checker.getTypeAtLocation(nodes);
}

function codeOf(file: SourceFile, node: Node): string {
  return node.getText(file).replaceAll(/\s+/g, " ").slice(0, 100);
}
