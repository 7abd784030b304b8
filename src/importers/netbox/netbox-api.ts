// Client of NetBox's documented REST API: paged lists, version, readable errors.

import { type JsonAnswer, JsonClient, type JsonServer, onOneLine, RemoteTrouble } from "../json-client.ts";
import { asInteger, asObject, asText, type ForeignObject, idOf } from "../object-fields.ts";
import { PagedList } from "../paged-list.ts";

/** Maximum objects read per list: larger than any NetBox, and all IDs are held in memory. */
const OBJECTS_MAX = 5_000_000;
const PAGE_OBJECTS = 1_000;
/** Maximum characters of a list held as a whole. */
const HELD_MAX_LENGTH = 512 * 1024 * 1024;

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

  /** @returns the version @throws RemoteTrouble for another product, an unsupported version or a wrong token */
  async version(): Promise<string> {
    const { body } = await this.get("/api/status/");
    const version = asText(asObject(body)?.["netbox-version"]);
    if (version === null)
      throw new RemoteTrouble(`${this.client.urlOf("/api/status/")} has no netbox-version: is it a NetBox?`);
    const major = /^v?([34])\./.exec(version)?.[1];
    if (major === undefined)
      throw new RemoteTrouble(`NetBox ${onOneLine(version)} is not supported; NetBox 3 and 4 can be imported`);
    return onOneLine(version);
  }

  /**
   * Yields the objects of a list page by page, each once. Ordered by ID, so that new objects come last.
   * @param path `/api/dcim/sites/`
   * @param objects page size
   * @throws RemoteTrouble
   */
  async *pages(path: string, query = "", objects = PAGE_OBJECTS): AsyncGenerator<readonly ForeignObject[]> {
    for await (const { rows } of this.answers(path, query, objects)) yield rows;
  }

  /**
   * Same as pages, for a list that the caller holds as a whole.
   * @throws RemoteTrouble also for one of more than HELD_MAX_LENGTH characters
   */
  async *heldPages(path: string, query = ""): AsyncGenerator<readonly ForeignObject[]> {
    let held = 0;
    for await (const { rows, length } of this.answers(path, query, PAGE_OBJECTS)) {
      held += length;
      if (held > HELD_MAX_LENGTH)
        throw new RemoteTrouble(`${this.client.urlOf(path)} answers more than ${HELD_MAX_LENGTH / 1024 / 1024} MiB`);
      yield rows;
    }
  }

  private async *answers(path: string, query: string, objects: number) {
    const url = this.client.urlOf(path);
    const list = new PagedList<ForeignObject>(url, { pageRows: objects, rows: OBJECTS_MAX }, idOf);
    while (!list.isWhole) {
      const { body, length } = await this.get(`${path}?limit=${objects}&offset=${list.offset}&ordering=id${query}`);
      const page = asObject(body);
      const count = asInteger(page?.count);
      if (page === null || count === null || !Array.isArray(page.results))
        throw new RemoteTrouble(`${url} does not answer with a list of objects`);
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

  private async get(path: string): Promise<JsonAnswer> {
    const answer = await this.client.get(path);
    const { status, body } = answer;
    if (status === 200) return answer;
    const url = this.client.urlOf(path);
    const detail = onOneLine(asText(asObject(body)?.detail) ?? "no reason");
    if (status === 401 || status === 403) throw new RemoteTrouble(`NetBox refuses the token for ${url}: ${detail}`);
    throw new RemoteTrouble(`NetBox answers ${status} to ${url}: ${detail}`);
  }
}
