// The OpenAPI document at /api/openapi.json and /openapi.json, made by the swagger plugin from the registered operations, and the page at /docs.
// Everything that the page needs is embedded: the appliance stands in networks without internet.

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { swagger, type ElysiaSwaggerConfig } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import scalarScript from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { isNotModified } from "./conditional.ts";
import { GROUPS, INTRODUCTION } from "./document-description.ts";
import { SERVER_VERSION } from "./envelope.ts";
import type { Json, NamedSchemas } from "./json-schema.ts";
import { describeOperation, sharedComponents } from "./operation.ts";
import { PAGE_HEADERS } from "./request.ts";
import type { RegisteredRoute } from "./surface.ts";

const DOCUMENT_PATH = "/api/openapi.json";
/** Where many tools look first. */
const SHORT_DOCUMENT_PATH = "/openapi.json";
const PAGE_PATH = "/docs";
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

/** What the documentation needs of the surface that it documents. */
export interface DocumentedSurface {
  readonly routes: readonly RegisteredRoute[];
  /** Headers that every answer carries. */
  headersOf(request: Request): Record<string, string>;
  /** What a request is answered that carries what it should not; else null. */
  refusalOf(request: Request): Response | null;
  /** Makes other methods at a path of ours 405. */
  alsoServes(path: string): void;
}

/** The routes of the document, the page and its script; `/` leads to the page. */
export function documentation(surface: DocumentedSurface) {
  for (const path of ["/", DOCUMENT_PATH, SHORT_DOCUMENT_PATH, PAGE_PATH, SCRIPT_PATH]) surface.alsoServes(path);
  const plugin = swagger(SWAGGER);
  const generated = async (path: string) => plugin.handle(new Request(`http://localhost${path}`));
  let document: Promise<Asset> | undefined;
  let page: Promise<string> | undefined;
  let script: Promise<Asset> | undefined;
  const answerDocument = async (request: Request) => {
    document ??= generated(DOCUMENT_PATH)
      .then((response) => response.json())
      .then((made) =>
        assetOf(new TextEncoder().encode(JSON.stringify(finished(made as Json, surface.routes))), "application/json"),
      );
    return answerAsset(request, await document, surface.headersOf(request));
  };
  const answerPage = async (request: Request) => {
    page ??= generated(PAGE_PATH)
      .then((response) => response.text())
      .then(completed);
    const headers = {
      ...surface.headersOf(request),
      ...PAGE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
    };
    return new Response(await page, { headers });
  };
  const answerScript = async (request: Request) => {
    script ??= assetOfFile(scalarScript, "text/javascript; charset=utf-8");
    return answerAsset(request, await script, surface.headersOf(request));
  };
  const redirect = (request: Request) =>
    new Response(null, { status: 302, headers: { ...surface.headersOf(request), location: PAGE_PATH } });
  // The plugin's own answers are what these are made from: nobody else gets them.
  const covered = new Elysia()
    .onBeforeHandle(
      ({ route, request }) =>
        surface.refusalOf(request) ?? (route === PAGE_PATH ? answerPage(request) : answerDocument(request)),
    )
    .use(plugin);
  return (
    new Elysia({ name: "documentation" })
      .use(covered)
      // Once more, as a route that Bun itself finds: Elysia's own search does not understand every host under TLS.
      .get(PAGE_PATH, ({ request }) => surface.refusalOf(request) ?? answerPage(request), { detail: { hide: true } })
      .get(SHORT_DOCUMENT_PATH, ({ request }) => surface.refusalOf(request) ?? answerDocument(request), {
        detail: { hide: true },
      })
      .get(SCRIPT_PATH, ({ request }) => surface.refusalOf(request) ?? answerScript(request), {
        detail: { hide: true },
      })
      .get("/", ({ request }) => surface.refusalOf(request) ?? redirect(request), { detail: { hide: true } })
  );
}

/** The document of an app as JSON text, as it would be answered at its path. */
export async function openApiDocument(app: {
  handle(request: Request): Response | Promise<Response>;
}): Promise<string> {
  const response = await app.handle(new Request(`http://localhost${DOCUMENT_PATH}`));
  if (response.status !== 200) throw new Error(`the OpenAPI document was answered with ${response.status}`);
  return response.text();
}

const SWAGGER: ElysiaSwaggerConfig<typeof PAGE_PATH> = {
  path: PAGE_PATH,
  specPath: DOCUMENT_PATH,
  provider: "scalar",
  scalarCDN: SCRIPT_PATH,
  excludeStaticFile: false,
  excludeMethods: ["OPTIONS", "HEAD"],
  // The plugin types an older Scalar than the one that is embedded.
  scalarConfig: {
    spec: { url: DOCUMENT_PATH },
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
    tags: [...GROUPS],
  },
};

/** The generated document with its operations told in full, its introduction, and the components and groups in use. */
function finished(generated: Json, routes: readonly RegisteredRoute[]): Json {
  const named: NamedSchemas = new Map();
  const described = new Map(
    routes.map(({ method, operation }) => [operation.operationId, describeOperation(method, operation, named)]),
  );
  const paths = Object.fromEntries(
    Object.entries(generated["paths"] as Record<string, Record<string, Json>>).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          described.get(operation["operationId"] as string) ?? operation,
        ]),
      ),
    ]),
  );
  const shared = sharedComponents();
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
  const components = { ...shared, schemas: { ...(shared["schemas"] as Json), ...schemas } };
  const groups = new Set(
    Object.values(paths).flatMap((path) => Object.values(path).flatMap((operation) => operation["tags"] as string[])),
  );
  return {
    openapi: generated["openapi"],
    info: {
      ...(generated["info"] as Json),
      description: INTRODUCTION,
      contact: { name: "Whoever runs this appliance" },
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: generated["servers"],
    tags: (generated["tags"] as { name: string }[]).filter((group) => groups.has(group.name)),
    paths,
    components: inUse(components, paths),
  };
}

/** Components that something refers to; tools complain of others. */
function inUse(components: Json, from: unknown): Json {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    const reference = (value as Json)["$ref"];
    if (typeof reference === "string" && !used.has(reference)) {
      used.add(reference);
      const [, , kind = "", name = ""] = reference.split("/");
      visit((components[kind] as Json | undefined)?.[name]);
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

/** The plugin's page, with a language, without a request for an icon that there is not, and without white space that passes for a script. */
function completed(html: string): string {
  return html
    .replace(/>\s+<\/script>/, "></script>")
    .replace("<html>", '<html lang="en">')
    .replace("<head>", '<head>\n    <link rel="icon" href="data:,">')
    .replace(
      "<body>",
      `<body>\n    <noscript>This page takes JavaScript; the document itself is at <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>`,
    );
}

/** Something whole that does not change while the appliance runs. */
interface Asset {
  readonly content: Uint8Array<ArrayBuffer> | Bun.BunFile;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly tag: string;
  readonly type: string;
}

const gzipAsync = promisify(gzip);

async function assetOf(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Asset> {
  const gzipped = await gzipAsync(bytes);
  return { content: bytes, gzipped: new Uint8Array(gzipped), tag: `"${Bun.hash(bytes).toString(36)}"`, type };
}

/** Holds the compressed form alone: the file itself is part of the executable. */
async function assetOfFile(path: string, type: string): Promise<Asset> {
  const file = Bun.file(path);
  return { ...(await assetOf(await file.bytes(), type)), content: file };
}

/** Kept by the browser, but asked after every time: an update of the appliance must not leave yesterday's page. */
function answerAsset(request: Request, asset: Asset, common: Record<string, string>): Response {
  // Weak (RFC 9110 section 8.8.1): the compressed form has the same tag.
  const headers = { ...common, "cache-control": "no-cache", etag: `W/${asset.tag}`, vary: "accept-encoding" };
  if (isNotModified(request.headers.get("if-none-match"), asset.tag))
    return new Response(null, { status: 304, headers });
  const typed = { ...headers, "content-type": asset.type };
  if (takesGzip(request.headers.get("accept-encoding")))
    return new Response(asset.gzipped, { headers: { ...typed, "content-encoding": "gzip" } });
  return new Response(asset.content, { headers: typed });
}

function takesGzip(header: string | null): boolean {
  return /(^|[,\s])(gzip|\*)(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(header ?? "");
}
