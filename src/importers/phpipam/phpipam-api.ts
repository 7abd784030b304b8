// Client for phpIPAM's documented REST API: object lists, readable errors.

import { JsonClient, type JsonServer, onOneLine, RemoteError } from "../json-client.ts";
import { asObject, asText, type ForeignObject } from "../object-fields.ts";

const PRODUCT = "phpIPAM";

export interface PhpipamServer extends Omit<JsonServer, "product" | "headers"> {
  readonly token: string;
  readonly appId: string;
}

export class PhpipamApi {
  private readonly client: JsonClient;
  private readonly identity: string;
  private readonly appPath: string;

  /** @param identity base address for record IDs */
  constructor({ token, appId, ...server }: PhpipamServer, identity: string) {
    this.client = new JsonClient({ ...server, product: PRODUCT, headers: { token } });
    this.identity = identity;
    this.appPath = `/api/${encodeURIComponent(appId)}`;
  }

  /**
   * Returns the objects of a list; phpIPAM has no paging.
   * @param path `/sections/`
   * @throws RemoteError
   */
  async list(path: string): Promise<readonly ForeignObject[]> {
    const { status, body } = await this.client.get(this.appPath + path);
    const envelope = asObject(body);
    const url = this.urlOf(path);
    const code = Number(envelope?.code ?? Number.NaN);
    // phpIPAM returns 404 for an empty list.
    if (envelope !== null && (status === 404 || code === 404)) return [];
    const message = onOneLine(asText(envelope?.message) ?? "no reason");
    if (status === 401 || status === 403 || code === 401 || code === 403)
      throw new RemoteError(`phpIPAM rejects the token for ${url}: ${message}`);
    if (status !== 200 || envelope === null || Number.isNaN(code) || code >= 300)
      throw new RemoteError(
        envelope === null || Number.isNaN(code)
          ? `${url} returns ${status} with unexpected JSON: is it phpIPAM?`
          : `phpIPAM returns ${code} for ${url}: ${message}`,
      );
    const data = envelope.data ?? [];
    if (!Array.isArray(data)) throw new RemoteError(`${url} does not return a list of objects`);
    return data.map((row) => asObject(row) ?? {});
  }

  /** Returns the columns that an installation added to a table, by name; none if the app may not read them. */
  async columns(path: string): Promise<ReadonlyArray<readonly [name: string, column: ForeignObject]>> {
    const { status, body } = await this.client.get(this.appPath + path);
    const data = status === 200 ? asObject(asObject(body)?.data) : null;
    return Object.entries(data ?? {}).map(([name, column]) => [name, asObject(column) ?? {}]);
  }

  /** User-visible URL of an object. */
  urlOf(path: string): string {
    return this.client.urlOf(this.appPath + path);
  }

  /** Source of the record ID of an object: the same for every app. */
  identityOf(path: string): string {
    return this.identity + path;
  }
}
