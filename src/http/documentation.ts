// The OpenAPI document at /api/openapi.json and /openapi.json, made by the swagger plugin from the registered
// operations, and the page at /docs. Everything that the page needs is embedded: the appliance stands in networks
// without internet.

import type { ElysiaSwaggerConfig } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import scalarScript from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { ownValue } from "../base/fields.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import type { Json, NamedSchemas } from "../schemas/json-schema.ts";
import { type Asset, answerAsset, assetOf, assetOfFile } from "./asset.ts";
import { type Group, groupsWith, INTRODUCTION } from "./document-description.ts";
import { describeOperation, sharedComponents } from "./operation.ts";
import { pageHeaders } from "./request.ts";
import type { RegisteredRoute, Surface } from "./surface.ts";

const DOCUMENT_PATH = "/api/openapi.json";
/** Where many tools look first. */
const SHORT_DOCUMENT_PATH = "/openapi.json";
export const DOCS_PATH = "/docs";
const SCRIPT_PATH = "/docs/scalar.js";

/** Only what the appliance itself serves: the browser refuses everything else, were the page to ask for it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The document, the page and its script.
 * @param resourceGroups the groups of one resource each
 */
export function documentation<Actor, Access>(surface: Surface<Actor, Access>, resourceGroups: readonly Group[]): void {
  let generator: Promise<Pick<Elysia, "handle">> | undefined;
  const generated = async (path: string) => {
    generator ??= generatorOf(surface.routes);
    return (await generator).handle(new Request(`http://localhost${path}`));
  };
  let document: Promise<Asset> | undefined;
  let page: Promise<string> | undefined;
  let script: Promise<Asset> | undefined;
  const answerDocument = async (request: Request, headers: Record<string, string>) => {
    document ??= generated(DOCUMENT_PATH)
      .then((response) => response.json())
      .then((made) => {
        const text = JSON.stringify(finished(made as Json, surface.routes, groupsWith(resourceGroups)));
        return assetOf(new TextEncoder().encode(text), "application/json");
      });
    return answerAsset(request, await document, headers);
  };
  const answerPage = async (request: Request, common: Record<string, string>) => {
    page ??= generated(DOCS_PATH)
      .then((response) => response.text())
      .then(completed);
    const headers = {
      ...common,
      ...pageHeaders(request),
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
    };
    return new Response(await page, { headers });
  };
  const answerScript = async (request: Request, headers: Record<string, string>) => {
    script ??= assetOfFile(scalarScript, "text/javascript; charset=utf-8");
    return answerAsset(request, await script, headers);
  };
  surface
    .serve(DOCUMENT_PATH, answerDocument)
    .serve(DOCS_PATH, answerPage)
    .serve(SHORT_DOCUMENT_PATH, answerDocument)
    .serve(SCRIPT_PATH, answerScript);
}

/**
 * The swagger plugin on an app of its own that has the paths of all operations. Loaded for the first reader: it brings
 * packages along (zod among them) that would take 10 % of each start.
 */
async function generatorOf(routes: readonly RegisteredRoute[]): Promise<Pick<Elysia, "handle">> {
  const { swagger } = await import("@elysiajs/swagger");
  const app = new Elysia();
  for (const { method, path, operation } of routes)
    app.route(method, path, () => new Response(), { detail: { operationId: operation.operationId } } as never);
  return app.use(swagger(SWAGGER));
}

/** The document of an app as JSON text, as it would be answered at its path. */
export async function openApiDocument(app: {
  handle(request: Request): Response | Promise<Response>;
}): Promise<string> {
  const response = await app.handle(new Request(`http://localhost${DOCUMENT_PATH}`));
  if (response.status !== 200) throw new Error(`the OpenAPI document was answered with ${response.status}`);
  return response.text();
}

const SWAGGER: ElysiaSwaggerConfig<typeof DOCS_PATH> = {
  path: DOCS_PATH,
  specPath: DOCUMENT_PATH,
  provider: "scalar",
  scalarCDN: SCRIPT_PATH,
  excludeStaticFile: false,
  excludeMethods: ["OPTIONS", "HEAD"],
  // The plugin types an older Scalar than the one that is embedded.
  scalarConfig: {
    // Where Scalar looks today; the plugin puts it where Scalar warns of it, unless it is told otherwise.
    url: DOCUMENT_PATH,
    spec: {},
    withDefaultFonts: false,
    customCss: "",
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "direct",
    authentication: { preferredSecurityScheme: "apiKey" },
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  } as NonNullable<ElysiaSwaggerConfig["scalarConfig"]>,
  documentation: {
    openapi: "3.1.0",
    // The plugin writes this description into an HTML attribute; the document gets the whole introduction afterwards.
    info: {
      title: "netledger",
      version: SERVER_VERSION,
      description: "The HTTP API of a network inventory that remembers.",
    },
    servers: [{ url: "/", description: "This appliance." }],
  },
};

/**
 * The generated document with its operations described in full, its introduction, and the components and groups in use.
 */
function finished(generated: Json, routes: readonly RegisteredRoute[], groups: readonly Group[]): Json {
  const named: NamedSchemas = new Map();
  const described = new Map(
    routes.map(({ method, operation }) => [operation.operationId, describeOperation(method, operation, named)]),
  );
  const paths = Object.fromEntries(
    Object.entries(generated.paths as Record<string, Record<string, Json>>).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          described.get(operation.operationId as string) ?? operation,
        ]),
      ),
    ]),
  );
  const shared = sharedComponents();
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
  const components = { ...shared, schemas: { ...(shared.schemas as Json), ...schemas } };
  const used = new Set(
    Object.values(paths).flatMap((path) => Object.values(path).flatMap((operation) => operation.tags as string[])),
  );
  return {
    openapi: generated.openapi,
    info: {
      ...(generated.info as Json),
      description: INTRODUCTION,
      contact: { name: "The operator of this appliance" },
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: generated.servers,
    tags: groups.filter(({ name }) => used.has(name)),
    paths,
    components: inUse(components, paths),
  };
}

/** Components that something refers to; tools complain of others. */
function inUse(components: Json, from: unknown): Json {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    const reference = (value as Json).$ref;
    if (typeof reference === "string" && !used.has(reference)) {
      used.add(reference);
      const [, , kind = "", name = ""] = reference.split("/");
      visit(ownValue(ownValue(components, kind) as Json | undefined, name));
    }
    for (const each of Object.values(value)) visit(each);
  };
  visit(from);
  return Object.fromEntries(
    Object.entries(components).map(([kind, byName]) => [
      kind,
      kind === "securitySchemes"
        ? byName
        : Object.fromEntries(
            Object.entries(byName as Json).filter(([name]) => used.has(`#/components/${kind}/${name}`)),
          ),
    ]),
  );
}

/**
 * The plugin's page, with a language and the address of the document, without a request for an icon that there is not,
 * and without white space that passes for a script.
 */
function completed(html: string): string {
  return html
    .replace(/>\s+<\/script>/, "></script>")
    .replace('data-url="undefined"', `data-url="${DOCUMENT_PATH}"`)
    .replace("<html>", '<html lang="en">')
    .replace("<head>", '<head>\n    <link rel="icon" href="data:,">')
    .replace(
      "<body>",
      `<body>\n    <noscript>This page needs JavaScript; the document is at <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>`,
    );
}
