// NetBox's REST API as its documentation describes it: lists by pages, the version, errors in words.

import { JsonClient, type JsonServer, onOneLine, RemoteTrouble } from "../json-client.ts";
import { asInteger, asObject, asText, type ForeignObject, idOf, listOf } from "../object-fields.ts";

/** More objects in one list are not read: no NetBox has them, and a list without an end would go on for ever. */
const OBJECTS_MAX = 20_000_000;
export const PAGE_OBJECTS = 1_000;

const PRODUCT = "NetBox";

export interface NetboxServer extends Omit<JsonServer, "product" | "headers"> {
  readonly token: string;
}

export class NetboxApi {
  private readonly client: JsonClient;
  private readonly identity: string;

  /** @param identity the address that ids are made of */
  constructor({ token, ...server }: NetboxServer, identity: string) {
    // Tokens of version 2 say so (NetBox 4.5).
    const scheme = token.startsWith("nbt_") ? "Bearer" : "Token";
    this.client = new JsonClient({ ...server, product: PRODUCT, headers: { authorization: `${scheme} ${token}` } });
    this.identity = identity;
  }

  /** @returns its version @throws RemoteTrouble for what is no NetBox, one of another version, and a wrong token */
  async version(): Promise<string> {
    const status = await this.get("/api/status/");
    const version = asText(asObject(status)?.["netbox-version"]);
    if (version === null)
      throw new RemoteTrouble(`${this.client.urlOf("/api/status/")} tells no netbox-version: it is no NetBox`);
    const major = /^v?([34])\./.exec(version)?.[1];
    if (major === undefined)
      throw new RemoteTrouble(`NetBox ${onOneLine(version)} is not known here; NetBox 3 and 4 can be brought in`);
    return onOneLine(version);
  }

  /**
   * The objects of a list, page by page.
   * @param path `/api/dcim/sites/`
   * @throws RemoteTrouble
   */
  async *pages(path: string, query = "", objects = PAGE_OBJECTS): AsyncGenerator<readonly ForeignObject[]> {
    for (let offset = 0; offset < OBJECTS_MAX; ) {
      const page = asObject(await this.get(`${path}?limit=${objects}&offset=${offset}${query}`));
      const rows = listOf(page?.results);
      if (page === null || asInteger(page.count) === null || !Array.isArray(page.results))
        throw new RemoteTrouble(`${this.client.urlOf(path)} answers no list of objects`);
      yield rows.map((row) => asObject(row) ?? {});
      // A NetBox may give fewer at once than it is asked for. Its links are not followed: they may lead elsewhere.
      offset += rows.length;
      if (rows.length === 0 || page.next === null || page.next === undefined) return;
    }
    throw new RemoteTrouble(`${this.client.urlOf(path)} has more than ${OBJECTS_MAX} objects`);
  }

  /** Where an object is, for people; of one without an id, its list. */
  urlOf(path: string, object: ForeignObject): string {
    return this.client.urlOf(`${path}${idOf(object) === null ? "" : `${idOf(object)}/`}`);
  }

  /** What the id of an object's record is made of. */
  identityOf(path: string, id: number): string {
    return `${this.identity}${path}${id}/`;
  }

  private async get(path: string): Promise<unknown> {
    const { status, body } = await this.client.get(path);
    if (status === 200) return body;
    const url = this.client.urlOf(path);
    const detail = onOneLine(asText(asObject(body)?.detail) ?? "no reason");
    if (status === 401 || status === 403) throw new RemoteTrouble(`NetBox refuses the token for ${url}: ${detail}`);
    throw new RemoteTrouble(`NetBox answers ${status} to ${url}: ${detail}`);
  }
}
