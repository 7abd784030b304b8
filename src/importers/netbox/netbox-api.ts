// Client for NetBox's documented REST API: paged lists, version, readable errors.

import { JsonClient, type JsonResponse, type JsonServer, onOneLine, RemoteError } from "../json-client.ts";
import { asInteger, asObject, asText, type ForeignObject, idOf } from "../object-fields.ts";
import { PagedList } from "../paged-list.ts";

/** Maximum objects read per list: larger than any NetBox, and all IDs are held in memory. */
const OBJECTS_MAX = 5_000_000;
const PAGE_OBJECTS = 1_000;
/** Maximum characters of a list held as a whole. */
const LIST_MAX_LENGTH = 512 * 1024 * 1024;

const PRODUCT = "NetBox";

export interface NetboxServer extends Omit<JsonServer, "product" | "headers"> {
  readonly token: string;
}

export class NetboxApi {
  private readonly client: JsonClient;
  private readonly identity: string;

  /** @param identity base address for record IDs */
  constructor({ token, ...server }: NetboxServer, identity: string) {
    // Version 2 tokens have a prefix (NetBox 4.5).
    const scheme = token.startsWith("nbt_") ? "Bearer" : "Token";
    this.client = new JsonClient({ ...server, product: PRODUCT, headers: { authorization: `${scheme} ${token}` } });
    this.identity = identity;
  }

  /** @returns the version @throws RemoteError for another product, an unsupported version or a wrong token */
  async version(): Promise<string> {
    const { body } = await this.get("/api/status/");
    const version = asText(asObject(body)?.["netbox-version"]);
    if (version === null)
      throw new RemoteError(`${this.client.urlOf("/api/status/")} has no netbox-version: is it NetBox?`);
    const major = /^v?([34])\./.exec(version)?.[1];
    if (major === undefined)
      throw new RemoteError(`NetBox ${onOneLine(version)} is not supported; NetBox 3 and 4 can be imported`);
    return onOneLine(version);
  }

  /**
   * Yields the objects of a list page by page, each once. Ordered by ID, so that new objects come last.
   * @param path `/api/dcim/sites/`
   * @param pageSize page size
   * @throws RemoteError
   */
  async *pages(path: string, query = "", pageSize = PAGE_OBJECTS): AsyncGenerator<readonly ForeignObject[]> {
    for await (const { rows } of this.responsePages(path, query, pageSize)) yield rows;
  }

  /**
   * Same as pages, for a list that the caller holds as a whole.
   * @throws RemoteError also for one of more than LIST_MAX_LENGTH characters
   */
  async *boundedPages(path: string, query = ""): AsyncGenerator<readonly ForeignObject[]> {
    let total = 0;
    for await (const { rows, length } of this.responsePages(path, query, PAGE_OBJECTS)) {
      total += length;
      if (total > LIST_MAX_LENGTH)
        throw new RemoteError(`${this.client.urlOf(path)} returns more than ${LIST_MAX_LENGTH / 1024 / 1024} MiB`);
      yield rows;
    }
  }

  private async *responsePages(path: string, query: string, pageSize: number) {
    const url = this.client.urlOf(path);
    const list = new PagedList<ForeignObject>(url, { pageRows: pageSize, rows: OBJECTS_MAX }, idOf);
    while (!list.isComplete) {
      const { body, length } = await this.get(`${path}?limit=${pageSize}&offset=${list.offset}&ordering=id${query}`);
      const page = asObject(body);
      const count = asInteger(page?.count);
      if (page === null || count === null || !Array.isArray(page.results))
        throw new RemoteError(`${url} does not return a list of objects`);
      const rows = list.take({ rows: page.results.map((row) => asObject(row) ?? {}), count });
      yield { rows, length };
      // NetBox may return fewer objects than requested. Its links are not followed: they may lead elsewhere.
      if (page.results.length === 0 || page.next === null || page.next === undefined) return;
    }
  }

  /** User-visible URL of an object; of its list if it has no ID. */
  urlOf(path: string, object: ForeignObject): string {
    return this.client.urlOf(`${path}${idOf(object) === null ? "" : `${idOf(object)}/`}`);
  }

  /** Source of the record ID of an object. */
  identityOf(path: string, id: number): string {
    return `${this.identity}${path}${id}/`;
  }

  private async get(path: string): Promise<JsonResponse> {
    const response = await this.client.get(path);
    const { status, body } = response;
    if (status === 200) return response;
    const url = this.client.urlOf(path);
    const detail = onOneLine(asText(asObject(body)?.detail) ?? "no reason");
    if (status === 401 || status === 403) throw new RemoteError(`NetBox rejects the token for ${url}: ${detail}`);
    throw new RemoteError(`NetBox returns ${status} for ${url}: ${detail}`);
  }
}
