// Route registration: one call per operation with its full declaration. Request order: route, credentials, role, query
// and path, body, handler. Independent of resources, the database, and the meaning of roles; see the gate.

import type { Static, TObject, TSchema, TUnsafe } from "@sinclair/typebox";
import type { Elysia } from "elysia";
import type { Counters, Counts } from "../base/counters.ts";
import { DomainError, describeFault, type ErrorCode, type Issue, invalid, isFault } from "../base/errors.ts";
import type { Cidr } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Timers } from "../base/timers.ts";
import { assertMayExist } from "../schemas/entity-tags.ts";
import { check } from "../schemas/validation.ts";
import { Admission, overloaded } from "./admission.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import {
  BODY_LIMIT_BYTES,
  BodyAllowance,
  BodyMemory,
  CSV_FORM,
  charsetOf,
  readBody,
  readOptionalBody,
  readShared,
} from "./body.ts";
import {
  type BodyChecks,
  type BodyToCheck,
  type CheckedBody,
  checkBody,
  fingerprintOf,
  LARGE_BODY_BYTES,
  type TableFormat,
} from "./body-checks.ts";
import { callerAddress, NO_PEER } from "./caller-address.ts";
import { changeReason, mayTransact } from "./change-reason.ts";
import { compressResponse } from "./content-coding.ts";
import { errorResponse } from "./errors.ts";
import { parameterValues, parseQuery } from "./query.ts";
import {
  type Call,
  idempotencyKey,
  isSecretPath,
  type LogFields,
  pathOf,
  ReceivedRequest,
  type RequestContext,
  rejectCookie,
  retryIdentity,
  type SetCookie,
  searchOf,
  sentRequestId,
} from "./request.ts";
import { carriesSecret, secretInUrl, withoutSecrets } from "./url-secrets.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Declaration of an operation: requests are validated against it, and the documentation is derived from it. */
export interface Operation<
  Access,
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
> {
  /** Unique; the method name in generated clients. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly group: string;
  /** Required access; "anyone" needs no credentials. */
  readonly access: Access | "anyone";
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly bodyLimitBytes?: number;
  /** The handler gets the validated, normalized body as bytes and passes them on unread: see postBytes. */
  readonly takesBytes?: true;
  /** Like takesBytes, but only for large bodies of records: the handler passes either form on unread. */
  readonly acceptsRawBody?: true;
  /** The body is a CSV table: see postTable. The handler gets the bytes of the parsed rows. */
  readonly table?: TableFormat;
  /** Maximum number of reported body issues; default: MAX_ISSUES. */
  readonly issuesMax?: number;
  /** Schema of `data`; null if no response uses the envelope. */
  readonly responseSchema: TSchema | null;
  /** Other media types of the response, fixed or on request. */
  readonly media?: readonly MediaResponse[];
  readonly isList?: boolean;
  /** Additional members of `meta`. */
  readonly meta?: TObject;
  /** Whether the ETag is the version of one record; default: derived from the fields of the response. */
  readonly isRecord?: boolean;
  /** Served even when requests are rejected under overload. */
  readonly isAlwaysAdmitted?: true;
  /** Ignores Idempotency-Key: a retry would run on different data. */
  readonly ignoresIdempotencyKey?: true;
  /** Never writes to the ledger, so there is no transaction to store a reason with. */
  readonly writesNoTransaction?: true;
  /** Only opens or closes sessions; allowed while a backup is being served. */
  readonly changesSessionsOnly?: true;
  /** Required for setCookie, which throws otherwise. */
  readonly setsCookie?: true;
  /** Error codes in addition to those that follow from the rest of the declaration. */
  readonly errors?: readonly ErrorCode[];
  /**
   * A valid request. All examples fit together: each referenced record is created by another example (a test sends
   * them). Path parameters not listed here are the fields of `data` with the same name.
   */
  readonly example: {
    readonly body?: unknown;
    readonly data: unknown;
    readonly meta?: unknown;
    readonly parameters?: Readonly<Record<string, string | number | boolean>>;
    /** Additional responses by name; the summary states the request. The first one is named as well. */
    readonly further?: {
      readonly first: NamedExample;
      readonly others: readonly [FurtherExample, ...FurtherExample[]];
    };
  };
}

interface NamedExample {
  readonly name: string;
  readonly summary: string;
}

interface FurtherExample extends NamedExample {
  readonly data: unknown;
}

/** A response without the envelope. */
export interface MediaResponse {
  /** Media type without parameters: `text/csv`. */
  readonly type: string;
  readonly description: string;
  readonly example: string;
}

/** Identifies the actor of a request and checks its permissions. Synchronous: it runs on every request. */
export interface Gate<Actor, Access> {
  /** Runs the synchronous part of a request on one snapshot of the store. */
  snapshot<T>(read: () => T): T;
  /** @throws DomainError auth_… before anything else in the request is read */
  identify(context: RequestContext, access: Access): Actor;
  /** @throws DomainError auth_permission_denied and the like */
  permit(actor: Actor, access: Access, context: RequestContext): void;
  /** Owner of the actor's body quota; an opaque value, compared by identity and as text. */
  quotaOwner(actor: Actor): unknown;
  /** Log fields of the actor. */
  logFieldsOf(actor: Actor): LogFields;
  /**
   * The user of valid credentials in a request that may be rejected under overload; null for none. Never throws and has
   * no side effects.
   * @param source address of the sender
   * @param mayReadStore called before the store is read, which recently valid credentials do not need
   */
  senderOf(request: Request, source: () => string, mayReadStore: () => boolean): unknown;
}

type Values<S> = S extends TSchema ? Static<S> : Record<string, never>;
type Handler<Actor, Access, P, Q, B> = (
  call: Call<Actor, Values<P>, Values<Q>, Values<B>, Access>,
) => Response | Promise<Response>;

/** A request in progress. */
interface Exchange<Actor, Access> {
  readonly operation: Operation<Access>;
  readonly handler: Handler<Actor, Access, TObject, TObject, TSchema>;
  readonly context: RequestContext;
  /** Monotonic, in milliseconds. */
  readonly started: number;
}

export interface RegisteredRoute {
  readonly method: Method;
  readonly path: string;
  readonly operation: Operation<unknown>;
}

/** Error for an unknown path. */
export function pathNotFound(path: string): DomainError {
  return new DomainError("entity_not_found", "There is nothing at this path; see /docs for the operations.", {
    entity: "operation",
    id: path.slice(0, 200),
  });
}

/** @param headers of every response */
export type PageHandler = (request: Request, headers: Record<string, string>) => Promise<Response> | null;

/** GET requests that take longer are logged. */
const SLOW_MS = 1_000;

interface SurfaceOptions<Actor, Access> {
  readonly app: Elysia;
  /** Has the cookie plugin and is mounted in `app`, so only operations that set cookies pay for it. */
  readonly cookieApp: Elysia;
  readonly gate: Gate<Actor, Access>;
  /** Null: large bodies are checked on this thread. */
  readonly bodyChecks: BodyChecks | null;
  readonly timers: Timers;
  readonly log: Log;
  readonly counters: Counters;
  readonly monotonicMs: () => number;
  readonly idPrefix: string;
  readonly unauthenticated: Actor;
  /** Converts errors of other layers for the caller; null for unknown ones. */
  readonly explain: (error: unknown) => DomainError | null;
  readonly isTls: boolean;
  /** Accepted host names. */
  readonly hosts: AllowedHosts;
  /** Proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: readonly Cidr[];
  /** Fully received requests that await their response. */
  readonly awaitingResponse: Set<Request>;
}

export class Surface<Actor, Access> {
  /** All registered routes: for 405, the OpenAPI document, and tests over all operations. */
  readonly routes: RegisteredRoute[] = [];
  /** Paths that accept GET and are not operations. */
  private readonly extraPaths = new Set<string>();
  /** Fallback page for browsers. */
  private page: PageHandler | null = null;
  /** Operations whose responses must not be stored. */
  private readonly noStoreOperations = new Set<Operation<Access>>();
  private readonly bodyMemory: BodyMemory;
  private readonly admission: Admission;
  private readonly counts: Counts["requests"];
  private served = 0;
  private readonly options: SurfaceOptions<Actor, Access>;

  constructor(options: SurfaceOptions<Actor, Access>) {
    this.options = options;
    this.bodyMemory = new BodyMemory(options.timers);
    this.admission = new Admission(options.timers, options.log);
    this.counts = options.counters.counts.requests;
    options.counters.gauge("bodies_held", () => this.bodyMemory.heldBytes);
  }

  get<P extends TObject, Q extends TObject>(
    path: string,
    operation: Operation<Access, P, Q, never>,
    handler: Handler<Actor, Access, P, Q, undefined>,
  ): this {
    return this.register("GET", path, operation, handler);
  }

  post<P extends TObject, Q extends TObject, B extends TSchema>(
    path: string,
    operation: Operation<Access, P, Q, B>,
    handler: Handler<Actor, Access, P, Q, B>,
  ): this {
    return this.register("POST", path, operation, handler);
  }

  /**
   * Like post, for bodies too large to pass to another thread as objects: the handler gets the bytes in shared memory.
   */
  postBytes<P extends TObject, Q extends TObject>(
    path: string,
    operation: Operation<Access, P, Q, TSchema>,
    handler: Handler<Actor, Access, P, Q, TUnsafe<Uint8Array>>,
  ): this {
    return this.register("POST", path, { ...operation, takesBytes: true }, handler);
  }

  /** Like postBytes, for tables: parsed on another thread, unless small. */
  postTable<P extends TObject, Q extends TObject>(
    path: string,
    operation: Operation<Access, P, Q, never> & { readonly table: TableFormat },
    handler: Handler<Actor, Access, P, Q, TUnsafe<Uint8Array>>,
  ): this {
    return this.register("POST", path, operation, handler);
  }

  put<P extends TObject, Q extends TObject, B extends TSchema>(
    path: string,
    operation: Operation<Access, P, Q, B>,
    handler: Handler<Actor, Access, P, Q, B>,
  ): this {
    return this.register("PUT", path, operation, handler);
  }

  delete<P extends TObject, Q extends TObject>(
    path: string,
    operation: Operation<Access, P, Q, never>,
    handler: Handler<Actor, Access, P, Q, undefined>,
  ): this {
    return this.register("DELETE", path, operation, handler);
  }

  /**
   * A path outside the API: undocumented, with 405 for wrong methods as usual.
   * @param respond called with the headers of every response
   */
  serve(
    path: string,
    respond: (request: Request, headers: Record<string, string>) => Response | Promise<Response>,
  ): this {
    this.extraPaths.add(path);
    this.options.app.get(path, ({ request }) => this.respondOutsideApi(request, respond), { detail: { hide: true } });
    return this;
  }

  /** Redirects a path to another one. */
  redirect(path: string, location: string): this {
    return this.serve(
      path,
      (_request, headers) => new Response(null, { status: 302, headers: { ...headers, location } }),
    );
  }

  /** @param respond called for every unmatched request; returns null for no response */
  servePages(respond: PageHandler): this {
    this.page = respond;
    return this;
  }

  /** Responds to a request that matches no operation. */
  respondOutsideApi(
    request: Request,
    respond: (request: Request, headers: Record<string, string>) => Response | Promise<Response>,
  ): Response | Promise<Response> {
    const refusal = this.rejectionOf(request);
    if (refusal !== null) return refusal;
    this.counts.answered += 1;
    return respond(request, this.context(request).headers);
  }

  /** Rejection of a request that matches no operation; null if it is allowed. */
  private rejectionOf(request: Request): Response | null {
    if (!this.admits(request, this.options.monotonicMs())) return this.overloaded(request);
    try {
      this.requireAllowed(request);
      return null;
    } catch (error) {
      return this.refuse(error, this.context(request));
    }
  }

  private admits(request: Request, now: number): boolean {
    const source = () => this.sourceOf(request);
    return this.admission.admits(now, {
      source,
      user: (mayReadStore) => this.options.gate.senderOf(request, source, mayReadStore),
    });
  }

  /** Rejects a request under overload and closes the connection, which discards pipelined requests at no cost. */
  private overloaded(request: Request): Response {
    this.counts.overloaded += 1;
    return errorResponse(overloaded(), { ...this.context(request).headers, connection: "close" });
  }

  /** Responds to an unknown path or a wrong method. */
  notRouted(request: Request): Response | Promise<Response> {
    const refusal = this.rejectionOf(request);
    if (refusal !== null) return refusal;
    const context = this.context(request);
    const page = this.page?.(request, context.headers) ?? null;
    if (page !== null) {
      this.counts.answered += 1;
      return page;
    }
    const path = pathOf(request.url);
    const allow = [
      ...new Set(
        this.routes
          .filter((route) => matches(route.path, path))
          .flatMap((route) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method])),
      ),
    ];
    if (this.extraPaths.has(path)) allow.push("GET", "HEAD");
    const error =
      allow.length > 0
        ? new DomainError("method_not_allowed", `${request.method} is not allowed here; use ${allow.join(", ")}.`, {
            method: request.method,
            allow,
          })
        : pathNotFound(path);
    this.counts.refused += 1;
    return errorResponse(error, context.headers);
  }

  /** Response for an error outside all handlers. */
  failed(error: unknown, request: Request): Response {
    return this.refuse(error, this.context(request));
  }

  /** Static typing ends here: the public methods check the operation, and its values are validated at runtime. */
  private register<P extends TObject, Q extends TObject, B extends TSchema, Given>(
    method: Method,
    path: string,
    registered: Operation<Access, P, Q, B>,
    handles: Handler<Actor, Access, P, Q, Given>,
  ): this {
    const operation = registered as unknown as Operation<Access>;
    const handler = handles as unknown as Handler<Actor, Access, TObject, TObject, TSchema>;
    this.routes.push({ method, path, operation: operation as Operation<unknown> });
    if (isSecretPath(path)) this.noStoreOperations.add(operation);
    const app = operation.setsCookie === true ? this.options.cookieApp : this.options.app;
    // Elysia parses the source of these functions: mentioning `server`, or returning a call's result directly, adds a
    // property definition and a promise around them. Reads avoid both; operations that set cookies need the promise.
    const run =
      operation.setsCookie === true
        ? (input: RouteInput & { setCookie: SetCookie }) =>
            this.run(operation, handler, input.request, input.params, input.setCookie)
        : (input: RouteInput) => {
            const response = this.run(operation, handler, input.request, input.params, rejectCookie);
            return response;
          };
    // Elysia would infer the handler's type from path and schemas, which the surface has checked itself. The rest of
    // the documentation is generated on request: at startup it would take longer than registering all routes.
    const detail = { operationId: operation.operationId };
    if (method === "GET") {
      // Without `parse`: any value makes the handler asynchronous.
      app.get(path, run as never, { detail } as never).head(path, run as never, { detail: { hide: true } } as never);
    } else app.route(method, path, run as never, { parse: "none", detail } as never);
    return this;
  }

  /** Synchronous for requests without a body: a promise per request is measurable on hot paths. */
  private run(
    operation: Operation<Access>,
    handler: Handler<Actor, Access, TObject, TObject, TSchema>,
    request: Request,
    rawParams: Record<string, string>,
    setCookie: SetCookie,
  ): Response | Promise<Response> {
    const started = this.options.monotonicMs();
    const isAdmitted = this.admits(request, started);
    if (!isAdmitted && operation.isAlwaysAdmitted !== true) return this.overloaded(request);
    const context = this.context(request, setCookie, this.noStoreOperations.has(operation));
    if (!isAdmitted) context.headers.connection = "close";
    const exchange: Exchange<Actor, Access> = { operation, handler, context, started };
    try {
      this.requireAllowed(request);
      if (operation.access === "anyone") return this.respond(exchange, this.options.unauthenticated, rawParams);
      return this.authorized(operation.access, context, (actor) => this.respond(exchange, actor, rawParams));
    } catch (error) {
      return this.refuse(error, context);
    }
  }

  private respond(
    exchange: Exchange<Actor, Access>,
    actor: Actor,
    rawParams: Record<string, string>,
  ): Response | Promise<Response> {
    const { operation, handler, context } = exchange;
    assertMayExist(context.request);
    const issues: Issue[] = [];
    let params: unknown = EMPTY;
    if (operation.params !== undefined) {
      const checked = check(operation.params, parameterValues(operation.params, rawParams));
      if (checked.ok) params = checked.value;
      else issues.push(...checked.issues);
    }
    const parsed = parseQuery(operation.query ?? NO_QUERY, searchOf(context.request.url));
    issues.push(...parsed.issues);
    if (mayTransact(context.request.method, operation))
      Object.assign(context, { mayTransact: true, reason: changeReason(context.request.headers, issues) });
    if (operation.body === undefined && context.request.method !== "POST") {
      const key = context.request.method === "DELETE" ? keyOf(operation, context.request, issues) : null;
      if (issues.length > 0) throw invalid(issues);
      const idempotency = key === null ? null : { key, fingerprint: fingerprintOf(retryIdentity(context.request), "") };
      const again = <T>(handle: (actor: Actor) => T) => this.reauthorized(operation, context, actor, handle);
      const given = { params, query: parsed.value, body: undefined, bodyBytes: 0, idempotency, again };
      const response = handler(callOf(exchange, actor, given) as never);
      if (response instanceof Response) return this.finish(response, exchange, actor);
      const { request } = context;
      this.options.awaitingResponse.add(request);
      return response
        .then(
          (settled) => this.finish(settled, exchange, actor),
          (error) => this.refuse(error, context),
        )
        .finally(() => this.options.awaitingResponse.delete(request));
    }
    return this.withBody(exchange, actor, params, parsed.value, issues);
  }

  private async withBody(
    exchange: Exchange<Actor, Access>,
    actor: Actor,
    params: unknown,
    query: unknown,
    issues: Issue[],
  ): Promise<Response> {
    const { operation, handler, context } = exchange;
    const owner = operation.access === "anyone" ? context.source : this.options.gate.quotaOwner(actor);
    const allowance = new BodyAllowance(this.bodyMemory, owner);
    try {
      const keyIssues: Issue[] = [];
      const key = keyOf(operation, context.request, keyIssues);
      const { checked, fingerprint } = await this.readCheckedBody(
        operation,
        context.request,
        key === null ? null : retryIdentity(context.request),
        allowance,
        String(owner),
      );
      this.options.awaitingResponse.add(context.request);
      if (!checked.ok) issues.push(...checked.issues);
      issues.push(...keyIssues);
      if (issues.length > 0 || !checked.ok) throw invalid(issues);
      const body = checked.value;
      const idempotency = key === null || fingerprint === null ? null : { key, fingerprint };
      const again = <T>(handle: (actor: Actor) => T) => this.reauthorized(operation, context, actor, handle);
      const given = { params, query, body, bodyBytes: allowance.bytes, idempotency, again };
      const response = again((now) => handler(callOf(exchange, now, given) as never));
      return await this.finish(await response, exchange, actor);
    } catch (error) {
      return this.refuse(error, context);
    } finally {
      this.options.awaitingResponse.delete(context.request);
      allowance.release();
    }
  }

  /** Receives and validates the body of a request. @param sender body checks rotate between senders */
  private async readCheckedBody(
    operation: Operation<Access>,
    request: Request,
    retryIdentity: string | null,
    allowance: BodyAllowance,
    sender: string,
  ): Promise<CheckedBody> {
    const limitBytes = operation.bodyLimitBytes ?? BODY_LIMIT_BYTES;
    if (operation.takesBytes === true || operation.table !== undefined) {
      const digest = retryIdentity === null ? null : new Bun.CryptoHasher("sha256");
      const form = operation.table === undefined ? undefined : CSV_FORM;
      const bytes = await readShared(request, limitBytes, allowance, digest, form);
      const charset = operation.table === undefined ? null : charsetOf(request);
      const { checked } = await this.checkedBody(
        operation,
        { operationId: operation.operationId, bytes, retryIdentity: null, charset },
        sender,
      );
      return {
        checked,
        fingerprint:
          retryIdentity === null || digest === null ? null : fingerprintOf(retryIdentity, digest.digest("hex")),
      };
    }
    const bytes =
      operation.body === undefined
        ? await readOptionalBody(request, limitBytes, allowance)
        : await readBody(request, limitBytes, allowance);
    return this.checkedBody(operation, { operationId: operation.operationId, bytes, retryIdentity }, sender);
  }

  private checkedBody(
    operation: Operation<Access>,
    body: BodyToCheck,
    sender: string,
  ): CheckedBody | Promise<CheckedBody> {
    return this.options.bodyChecks !== null && body.bytes.length > LARGE_BODY_BYTES
      ? this.options.bodyChecks.check(body, sender)
      : checkBody(operation, body);
  }

  /** A body may take minutes to arrive: permissions are checked again once it is complete. */
  private reauthorized<T>(
    operation: Operation<Access>,
    context: RequestContext,
    actor: Actor,
    handle: (actor: Actor) => T,
  ): T {
    const { access } = operation;
    if (access === "anyone") return handle(actor);
    return this.authorized(access, context, handle);
  }

  /** Identifies the actor, checks its permissions and starts the handler, all on one snapshot of the store. */
  private authorized<T>(access: Access, context: RequestContext, handle: (actor: Actor) => T): T {
    return this.options.gate.snapshot(() => {
      const actor = this.options.gate.identify(context, access);
      // Every write is logged with its actor, even if rejected. For a GET, `finish` adds the actor to what it logs.
      if (context.request.method !== "GET") this.logActor(context, actor);
      this.options.gate.permit(actor, access, context);
      return handle(actor);
    });
  }

  private logActor(context: RequestContext, actor: Actor): void {
    if (context.logFields.actor_id !== undefined) return;
    Object.assign(context.logFields, this.options.gate.logFieldsOf(actor));
  }

  private finish(
    response: Response,
    { context, operation, started }: Exchange<Actor, Access>,
    actor: Actor,
  ): Response | Promise<Response> {
    this.counts.answered += 1;
    const tookMs = this.options.monotonicMs() - started;
    if (context.request.method !== "GET" || tookMs > SLOW_MS) {
      if (operation.access !== "anyone") this.logActor(context, actor);
      this.options.log.info("request", {
        operation: operation.operationId,
        status: response.status,
        took_ms: Math.round(tookMs),
        request_id: context.requestId,
        source: context.source,
        ...context.logFields,
      });
    }
    return compressResponse(context.request, response, (error) =>
      this.options.log.error("compression_failed", { request_id: context.requestId, cause: describeFault(error) }),
    );
  }

  private refuse(thrown: unknown, context: RequestContext): Response {
    const { request, requestId } = context;
    // The client disconnected: not an error of the appliance.
    if (!(thrown instanceof DomainError) && request.signal.aborted) {
      this.counts.cut_off += 1;
      this.options.log.info("request_cut_off", {
        method: request.method,
        path: loggedPath(request),
        request_id: requestId,
        source: context.source,
        ...context.logFields,
      });
      return errorResponse(
        new DomainError(
          "shutting_down",
          "The connection was closed before the request was complete: nothing was written.",
        ),
        context.headers,
      );
    }
    let error: DomainError;
    if (thrown instanceof DomainError) error = thrown;
    else
      error =
        this.options.explain(thrown) ?? new DomainError("internal_error", "Something went wrong inside the appliance.");
    const path = loggedPath(request);
    if (isFault(error.code)) {
      this.counts.failed += 1;
      const cause =
        error.cause ??
        (thrown instanceof DomainError
          ? thrown.message
          : thrown instanceof Error
            ? (thrown.stack ?? thrown.message)
            : thrown);
      this.options.log.error("request_failed", {
        method: context.request.method,
        path,
        code: error.code,
        cause: String(cause),
        request_id: context.requestId,
        ...context.logFields,
      });
      error = new DomainError(error.code, error.message, { request_id: context.requestId });
    } else {
      this.counts.refused += 1;
      this.options.log.info("request_refused", {
        method: context.request.method,
        path,
        code: error.code,
        request_id: context.requestId,
        source: context.source,
        ...context.logFields,
        ...(error.cause === undefined ? {} : { cause: String(error.cause) }),
      });
    }
    return errorResponse(error, context.headers);
  }

  /** Runs before anything else in a request is read. @throws DomainError host_not_allowed, validation_failed */
  private requireAllowed(request: Request): void {
    this.options.hosts.require(request.headers);
    if (carriesSecret(request.url)) throw secretInUrl();
  }

  private context(
    request: Request,
    setCookie = rejectCookie,
    isSecret = isSecretPath(pathOf(request.url)),
  ): RequestContext {
    this.served += 1;
    const requestId = sentRequestId(request) ?? `${this.options.idPrefix}-${this.served.toString(36)}`;
    const context = new ReceivedRequest(request, requestId, setCookie, isSecret, this.options.isTls, () =>
      this.sourceOf(request),
    );
    // Resolved now, since the peer may have disconnected later; reads hardly ever need it.
    if (request.method !== "GET") void context.source;
    return context;
  }

  /** Caller address of a request. */
  private sourceOf(request: Request): string {
    const peer = this.options.app.server?.requestIP(request)?.address ?? NO_PEER;
    return callerAddress(peer, request.headers.get("x-forwarded-for"), this.options.trustedProxies);
  }
}

interface RouteInput {
  readonly request: Request;
  readonly params: Record<string, string>;
}

type AnyCall<Actor, Access> = Call<Actor, unknown, unknown, unknown, Access>;

/** Turns a request's context into its call. Assigns fields one by one: Object.assign takes a microsecond. */
function callOf<Actor, Access>(
  { context, operation }: Exchange<Actor, Access>,
  actor: Actor,
  given: Pick<AnyCall<Actor, Access>, "params" | "query" | "body" | "bodyBytes" | "idempotency" | "again">,
): AnyCall<Actor, Access> {
  const call = context as { -readonly [Name in keyof AnyCall<Actor, Access>]: AnyCall<Actor, Access>[Name] };
  call.actor = actor;
  call.access = operation.access;
  call.params = given.params;
  call.query = given.query;
  call.body = given.body;
  call.bodyBytes = given.bodyBytes;
  call.idempotency = given.idempotency;
  call.again = given.again;
  return call;
}

const EMPTY = Object.freeze({});
const NO_QUERY = { type: "object", properties: {} } as unknown as TObject;

function loggedPath(request: Request): string {
  return withoutSecrets(pathOf(request.url)).slice(0, 200);
}

function matches(pattern: string, path: string): boolean {
  const patternParts = pattern.split("/");
  const pathParts = path.split("/");
  return (
    patternParts.length === pathParts.length &&
    patternParts.every((part, position) =>
      part.startsWith(":") ? pathParts[position] !== "" : part === pathParts[position],
    )
  );
}

/** Idempotency key of the request, validated; null if absent, or if the operation does not replay responses. */
function keyOf(operation: Operation<unknown>, request: Request, issues: Issue[]): string | null {
  const key = idempotencyKey(request, issues);
  return operation.ignoresIdempotencyKey === true ? null : key;
}
