// Filterable fields of record versions, by kind.

import { oneEntity } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { pascalCase } from "../base/text.ts";
import { UNFILTERABLE_FIELDS } from "../records/part-fields.ts";
import { RESOURCES } from "../records/resources.ts";
import { RowFields, type RowList } from "../records/row-fields.ts";
import { VersionOf } from "./change-view.ts";

export const VERSION_ROWS: readonly RowList[] = RESOURCES.map(({ kind, path, listSchema: listed, responseSchema }) => ({
  name: `${kind.name}_version`,
  words: { one: `version of ${oneEntity(kind)}`, many: `versions of ${oneEntity(kind)}` },
  path: `${path}/{id}/history`,
  recordOf: kind.name,
  row: VersionOf(listed ?? responseSchema, pascalCase(kind.name)),
  unfilterable: Object.fromEntries(
    Object.entries(ownValue(UNFILTERABLE_FIELDS, kind.name) ?? {}).map(([field, reason]) => [
      `record.${field}`,
      reason,
    ]),
  ),
}));

const FIELDS = new Map(VERSION_ROWS.map((list, index) => [RESOURCES[index]?.kind.name, new RowFields(list)]));

/** @param kindName of a resource */
export function versionFields(kindName: string): RowFields {
  const fields = FIELDS.get(kindName);
  if (fields === undefined) throw new Error(`versions: no resource has the kind ${kindName}`);
  return fields;
}
