// Commands of a resource that write one record, for everything that writes many: updates in bulk, and tables.

import type { TObject, TSchema } from "@sinclair/typebox";
import type { CommandActor } from "../access/actor.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { Resource } from "./resource.ts";

/** A command that writes one record, as its operation's body, which was checked, says. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the body of its own kind; the schema beside it is what checks it.
export type WriteOne = (tx: WriteTransaction, input: any, actor: CommandActor, box: any) => unknown;

export interface RecordWrites {
  readonly resource: Resource;
  /** The body of its POST, and what runs it. */
  readonly Create: TObject;
  readonly create: WriteOne;
  /** The body of its PUT, and what runs it. */
  readonly Update: TObject;
  readonly update: WriteOne;
  /** What bodies are checked against, where these take one of several forms; `Create` and `Update` have the fields of all. */
  readonly forms?: { readonly Create: TSchema; readonly Update: TSchema };
  /** Fields of its bodies that hold records of their own: they are another for each record. */
  readonly parts?: readonly string[];
  /** The fields by which a row of a table without an id finds its record. */
  readonly key: readonly string[];
  /** Fields whose values are of the type that another field names. */
  readonly typedBy?: Readonly<Record<string, string>>;
  /** Whether records are written one at a time or in a table only: fields are not set alike for many. */
  readonly isTableOnly?: true;
}
