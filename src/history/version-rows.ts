// Filterable fields of record versions, by kind.

import { oneEntity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { pascalCase } from "../base/text.ts";
import { UNASKED_FIELDS } from "../records/part-fields.ts";
import { RESOURCES } from "../records/resources.ts";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { VersionOf } from "./change-view.ts";

export const VERSION_ROWS: readonly RowList[] = RESOURCES.map(({ kind, path, listed, answer }) => ({
  name: `${kind.name}_version`,
  words: { one: `version of ${oneEntity(kind)}`, many: `versions of ${oneEntity(kind)}` },
  path: `${path}/{id}/history`,
  recordOf: kind.name,
  row: VersionOf(listed ?? answer, pascalCase(kind.name)),
  unasked: Object.fromEntries(
    Object.entries(ownValue(UNASKED_FIELDS, kind.name) ?? {}).map(([field, why]) => [`record.${field}`, why]),
  ),
}));

const FIELDS = new Map(VERSION_ROWS.map((list, place) => [RESOURCES[place]?.kind.name, new RowFields(list)]));

/** @param kindName of a resource */
export function versionFields(kindName: string): RowFields {
  const fields = FIELDS.get(kindName);
  if (fields === undefined) throw new Error(`versions: there is no resource of the kind ${kindName}`);
  return fields;
}
