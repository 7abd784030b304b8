// phpIPAM's REST API as its documentation describes it: lists of objects, errors in words.

import { JsonClient, type JsonServer, onOneLine, RemoteTrouble } from "../json-client.ts";
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

  /** @param identity the address that ids are made of */
  constructor({ token, appId, ...server }: PhpipamServer, identity: string) {
    this.client = new JsonClient({ ...server, product: PRODUCT, headers: { token } });
    this.identity = identity;
    this.appPath = `/api/${encodeURIComponent(appId)}`;
  }

  /**
   * The objects of a list; phpIPAM has no pages.
   * @param path `/sections/`
   * @throws RemoteTrouble
   */
  async list(path: string): Promise<readonly ForeignObject[]> {
    const { status, body } = await this.client.get(this.appPath + path);
    const envelope = asObject(body);
    const url = this.urlOf(path);
    const code = Number(envelope?.code ?? Number.NaN);
    // A list without objects is one that was not found.
    if (envelope !== null && (status === 404 || code === 404)) return [];
    const message = onOneLine(asText(envelope?.message) ?? "no reason");
    if (status === 401 || status === 403 || code === 401 || code === 403)
      throw new RemoteTrouble(`phpIPAM refuses the token for ${url}: ${message}`);
    if (status !== 200 || envelope === null || Number.isNaN(code) || code >= 300)
      throw new RemoteTrouble(
        envelope === null || Number.isNaN(code)
          ? `${url} answers ${status} and JSON of another form: it is no phpIPAM`
          : `phpIPAM answers ${code} to ${url}: ${message}`,
      );
    const data = envelope.data ?? [];
    if (!Array.isArray(data)) throw new RemoteTrouble(`${url} answers no list of objects`);
    return data.map((row) => asObject(row) ?? {});
  }

  /** The columns that an installation has added to a table, by name; none where the app may not ask for them. */
  async columns(path: string): Promise<ReadonlyArray<readonly [name: string, column: ForeignObject]>> {
    const { status, body } = await this.client.get(this.appPath + path);
    const data = status === 200 ? asObject(asObject(body)?.data) : null;
    return Object.entries(data ?? {}).map(([name, column]) => [name, asObject(column) ?? {}]);
  }

  /** Where an object is, for people. */
  urlOf(path: string): string {
    return this.client.urlOf(this.appPath + path);
  }

  /** What the id of an object's record is made of: the same for every app. */
  identityOf(path: string): string {
    return this.identity + path;
  }
}
