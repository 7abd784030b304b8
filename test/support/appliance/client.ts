// API client for tests, with JSON requests and parsed responses.

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body as text, JSON or not. */
  readonly text: string;
  /** The response envelope. */
  readonly body: any;
  readonly data: any;
}

/** Receives every response before the requesting test does. */
export type OnResponse = (method: string, path: string, result: ApiResponse) => Promise<void>;

/** Sends API requests. A path without a leading slash is relative to `/api/v1/`. */
export class Client {
  private readonly handle: (request: Request) => Promise<Response>;
  private readonly headers: Record<string, string>;
  private readonly base: string;
  private readonly onResponse: OnResponse | undefined;

  constructor(
    handle: (request: Request) => Promise<Response>,
    headers: Record<string, string>,
    base = "http://localhost",
    onResponse?: OnResponse,
  ) {
    this.handle = handle;
    this.headers = headers;
    this.base = base;
    this.onResponse = onResponse;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.send("GET", path, undefined, headers);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.send("POST", path, body, headers);
  }

  put(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.send("PUT", path, body, headers);
  }

  delete(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.send("DELETE", path, undefined, headers);
  }

  /** Client with replaced or additional headers. */
  with(headers: Record<string, string>): Client {
    return new Client(this.handle, { ...this.headers, ...headers }, this.base, this.onResponse);
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
    const init: RequestInit = {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    };
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    if (body !== undefined) init.body = isRaw ? (body as string) : JSON.stringify(body);
    const fullPath = path.startsWith("/") ? path : `/api/v1/${path}`;
    const response = await this.handle(new Request(`${this.base}${fullPath}`, init));
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
    const parsed = isJson && text !== "" ? JSON.parse(text) : null;
    const result = { status: response.status, headers: response.headers, text, body: parsed, data: parsed?.data };
    await this.onResponse?.(method, fullPath, result);
    return result;
  }
}
