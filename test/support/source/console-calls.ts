// API calls of the console, derived from its sources by the compiler: every call reachable from a page, with every
// possible path. Replaces a hand-written list.

import { join } from "node:path";
import type ts from "typescript-5";

const CONSOLE = join(import.meta.dir, "../../../src/console");
const METHODS = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const FETCHES = new Set(["fetch", "fetchResponse"]);

export interface ConsoleCalls {
  /** `POST /api/v1/vlans/{}`: with unnamed parameters, as from `callName`. */
  readonly calls: ReadonlySet<string>;
  /** Paths of all reads. */
  readonly reads: ReadonlySet<string>;
  /** `file:line` of writes with an undetermined path. */
  readonly unknown: readonly string[];
  /** `file:line` of writes unreachable from the console's entry module. */
  readonly unused: readonly string[];
}

/** Name of an operation, with unnamed parameters. */
export function callName(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, "{}")}`;
}

/** Reads the sources; requires `dist/console-api.ts`, which the type check generates. */
export async function consoleCalls(): Promise<ConsoleCalls> {
  const { default: compiler } = await import("typescript-5");
  const { config } = compiler.readConfigFile(join(CONSOLE, "tsconfig.json"), compiler.sys.readFile);
  const { options, fileNames } = compiler.parseJsonConfigFileContent(config, compiler.sys, CONSOLE);
  return new CallCollector(compiler, compiler.createProgram(fileNames, options)).read();
}

class CallCollector {
  private readonly compiler: typeof ts;
  private readonly checker: ts.TypeChecker;
  private readonly files: readonly ts.SourceFile[];

  constructor(compiler: typeof ts, program: ts.Program) {
    this.compiler = compiler;
    this.checker = program.getTypeChecker();
    this.files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(CONSOLE));
  }

  read(): ConsoleCalls {
    const calls = new Set<string>();
    const reads = new Set<string>();
    const unknown: string[] = [];
    const unused: string[] = [];
    const reachable = this.reachableStatements();
    for (const file of this.files)
      for (const statement of file.statements)
        this.walk(statement, (node) => {
          const request = this.requestOf(node);
          if (request === null) return;
          const paths = this.textsOf(request.path);
          const isRead = request.method === "GET" || request.method === "HEAD";
          const location = `${file.fileName.slice(CONSOLE.length + 1)}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
          if (isRead) for (const path of paths ?? []) reads.add(callName("GET", withoutQuery(path)));
          else if (!reachable.has(statement)) unused.push(location);
          else if (paths === null || paths.some((path) => !path.startsWith("/api/"))) unknown.push(location);
          else for (const path of paths) calls.add(callName(request.method, withoutQuery(path)));
        });
    return { calls, reads, unknown, unused };
  }

  /** Request of a node: `api.POST(path)`, `read(path)`, `fetchResponse(path, { method })`, or a link to the API. */
  private requestOf(node: ts.Node): { readonly method: string; readonly path: ts.Expression } | null {
    const { compiler } = this;
    if (compiler.isJsxAttribute(node)) {
      const { name, initializer: path } = node;
      const isLink = name.getText() === "href" && path !== undefined && compiler.isStringLiteral(path);
      return isLink && path.text.startsWith("/api/") ? { method: "GET", path } : null;
    }
    if (!compiler.isCallExpression(node)) return null;
    const { expression: callee } = node;
    const [path, init] = node.arguments;
    if (path === undefined) return null;
    if (compiler.isPropertyAccessExpression(callee)) {
      const method = callee.name.text;
      return METHODS.has(method) || method === "GET" ? { method, path } : null;
    }
    if (!compiler.isIdentifier(callee)) return null;
    if (callee.text === "read") return { method: "GET", path };
    return FETCHES.has(callee.text) ? { method: this.methodOf(init), path } : null;
  }

  private methodOf(init: ts.Expression | undefined): string {
    const { compiler } = this;
    if (init === undefined || !compiler.isObjectLiteralExpression(init)) return "GET";
    for (const property of init.properties)
      if (compiler.isPropertyAssignment(property) && property.name.getText() === "method")
        return this.textsOf(property.initializer)?.[0] ?? "POST";
    return "GET";
  }

  /** All possible values of an expression; `{}` for an arbitrary part of a path. Null if all of it is arbitrary. */
  private textsOf(expression: ts.Expression): string[] | null {
    const { compiler } = this;
    if (
      compiler.isAsExpression(expression) ||
      compiler.isParenthesizedExpression(expression) ||
      compiler.isSatisfiesExpression(expression)
    )
      return this.textsOf(expression.expression);
    if (compiler.isStringLiteralLike(expression)) return [expression.text];
    if (compiler.isTemplateExpression(expression)) {
      let texts = [expression.head.text];
      for (const { expression: part, literal } of expression.templateSpans) {
        const parts = this.textsOf(part) ?? ["{}"];
        texts = texts.flatMap((prefix) => parts.map((middle) => prefix + middle + literal.text));
      }
      return texts;
    }
    const type = this.checker.getTypeAtLocation(expression);
    const members = type.isUnion() ? type.types : [type];
    const literals = members.map((member) => (member.isStringLiteral() ? member.value : null));
    return literals.every((literal) => literal !== null) ? literals : null;
  }

  /**
   * Top-level statements reachable from `main.tsx`: through names, dynamic imports, and the side effects of modules.
   */
  private reachableStatements(): ReadonlySet<ts.Statement> {
    const { compiler, checker } = this;
    const reachable = new Set<ts.Statement>();
    const loaded = new Set<ts.SourceFile>();
    const pending: ts.Statement[] = [];
    const markReachable = (statement: ts.Statement | undefined) => {
      if (statement === undefined || reachable.has(statement)) return;
      reachable.add(statement);
      pending.push(statement);
      load(statement.getSourceFile());
    };
    const load = (file: ts.SourceFile) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const statement of file.statements)
        if (compiler.isExpressionStatement(statement) || compiler.isImportDeclaration(statement))
          markReachable(statement);
    };
    const main = this.files.find(({ fileName }) => fileName === join(CONSOLE, "main.tsx"));
    if (main === undefined) throw new Error("The console has no main.tsx.");
    for (const statement of main.statements) markReachable(statement);
    for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
      // An import counts only if its name is used.
      if (compiler.isImportDeclaration(statement)) {
        const { importClause, moduleSpecifier } = statement;
        if (importClause === undefined || !importClause.isTypeOnly) this.fileOf(moduleSpecifier, load);
        continue;
      }
      this.walk(statement, (node) => {
        if (compiler.isTypeNode(node)) return;
        if (compiler.isCallExpression(node) && node.expression.kind === compiler.SyntaxKind.ImportKeyword)
          this.fileOf(node.arguments[0], (file) => {
            for (const loadedStatement of file.statements) markReachable(loadedStatement);
          });
        if (!compiler.isIdentifier(node) || this.isMember(node)) return;
        const symbol = compiler.isShorthandPropertyAssignment(node.parent)
          ? checker.getShorthandAssignmentValueSymbol(node.parent)
          : checker.getSymbolAtLocation(node);
        const target =
          symbol !== undefined && symbol.flags & compiler.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        for (const declaration of target?.declarations ?? []) markReachable(this.topLevelStatement(declaration));
      });
    }
    return reachable;
  }

  /** Members are reached through their object; resolving them costs most of a type check. */
  private isMember(name: ts.Identifier): boolean {
    const { compiler } = this;
    const { parent } = name;
    const isNamed =
      compiler.isPropertyAccessExpression(parent) ||
      compiler.isPropertyAssignment(parent) ||
      compiler.isJsxAttribute(parent);
    return isNamed && parent.name === name;
  }

  private fileOf(specifier: ts.Expression | undefined, action: (file: ts.SourceFile) => void): void {
    const symbol = specifier === undefined ? undefined : this.checker.getSymbolAtLocation(specifier);
    for (const declaration of symbol?.declarations ?? [])
      if (this.compiler.isSourceFile(declaration) && this.files.includes(declaration)) action(declaration);
  }

  private topLevelStatement(node: ts.Node): ts.Statement | undefined {
    let top = node;
    while (top.parent !== undefined && !this.compiler.isSourceFile(top.parent)) top = top.parent;
    return top.parent !== undefined && this.files.includes(top.parent as ts.SourceFile)
      ? (top as ts.Statement)
      : undefined;
  }

  private walk(node: ts.Node, visit: (node: ts.Node) => void): void {
    visit(node);
    node.forEachChild((child) => this.walk(child, visit));
  }
}

function withoutQuery(path: string): string {
  return path.split("?")[0] ?? path;
}
