// Single-record write commands of a resource, for everything that writes many records: bulk updates and tables.

import type { TObject, TSchema } from "@sinclair/typebox";
import type { CommandActor } from "../access/actor.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { Resource } from "./resource.ts";

/** A command that writes one record from the validated body of its operation. */
// biome-ignore lint/suspicious/noExplicitAny: each accepts the body of its own kind, validated by the adjacent schema.
export type RecordCommand = (tx: WriteTransaction, input: any, actor: CommandActor, box: any) => unknown;

export interface RecordWrites {
  readonly resource: Resource;
  /** Body of the POST, and its command. */
  readonly Create: TObject;
  readonly create: RecordCommand;
  /** Body of the PUT, and its command. */
  readonly Update: TObject;
  readonly update: RecordCommand;
  /** Validation schemas, if a body has one of several forms; `Create` and `Update` have the fields of all forms. */
  readonly forms?: { readonly Create: TSchema; readonly Update: TSchema };
  /** Fields of the bodies that contain separate records, which differ for each record. */
  readonly parts?: readonly string[];
  /** Fields that identify the record of a table row without an id. */
  readonly key: readonly string[];
  /** Fields whose type is given by another field. */
  readonly typedBy?: Readonly<Record<string, string>>;
  /** Whether records are written only one at a time or in a table: bulk updates are not offered. */
  readonly isTableOnly?: true;
}
