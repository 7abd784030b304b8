// What an organization sets up for all its records, as lists: its networks, tags, custom fields and markers.

import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { kindWords } from "../kinds/kinds.ts";
import { type AnyList, type ListDefinition, sealed, TagsCell, TIMES, textColumn } from "../lists/definitions.tsx";
import { ListPage } from "../lists/list-page.tsx";
import { Instant, Reference, Text } from "../lists/values.tsx";
import { listText } from "../text/lists.ts";
import { settingsText } from "../text/settings.ts";

type Network = DataOf<"/api/v1/networks">[number];
type Tag = DataOf<"/api/v1/tags">[number];
type CustomField = DataOf<"/api/v1/custom-fields">[number];
type Marker = DataOf<"/api/v1/markers">[number];

const networks: ListDefinition<Network> = {
  kind: "network",
  path: "networks",
  page: "/settings/networks",
  example: "stale_after_hours > 24",
  title: settingsText.tabs.networks,
  one: "network",
  many: "networks",
  nothingYet: listText.addOne,
  order: "name",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  shown: ["name", "description", "stale_after_hours", "tags", "created_at"],
  columns: [
    textColumn("name", 16, true),
    textColumn("description", 24),
    {
      key: "stale_after_hours",
      width: 9,
      isNumber: true,
      isOrdered: true,
      cell: ({ stale_after_hours }) => stale_after_hours,
    },
    { key: "tags", width: 12, cell: ({ tags }) => <TagsCell ids={tags} /> },
    ...TIMES<Network>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/networks", { query: { ...query, ...window } as QueryOf<"/api/v1/networks"> }),
  views: [],
};

const tags: ListDefinition<Tag> = {
  kind: "tag",
  path: "tags",
  page: "/settings/tags",
  example: "is_application = true",
  title: settingsText.tabs.tags,
  one: "tag",
  many: "tags",
  nothingYet: listText.addOne,
  order: "name",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  shown: ["name", "color", "description", "is_application", "created_at"],
  columns: [
    {
      key: "name",
      width: 14,
      isOrdered: true,
      cell: ({ name, color }) => (
        <>
          <span class={`tag-color tag-${color}`} aria-hidden="true" /> <Text text={name} />
        </>
      ),
    },
    { key: "color", width: 7, isOrdered: true, cell: ({ color }) => color },
    textColumn("description", 24),
    {
      key: "is_application",
      width: 8,
      isOrdered: true,
      cell: ({ is_application }) => (is_application ? listText.yes : ""),
    },
    ...TIMES<Tag>(),
  ],
  readWith: (query) => (window) => read("/api/v1/tags", { query: { ...query, ...window } as QueryOf<"/api/v1/tags"> }),
  views: [],
};

const customFields: ListDefinition<CustomField> = {
  kind: "custom_field",
  path: "custom-fields",
  page: "/settings/custom-fields",
  example: "required = true",
  title: settingsText.tabs.customFields,
  one: "custom field",
  many: "custom fields",
  nothingYet: listText.addOne,
  order: "key",
  idOf: ({ id }) => id,
  nameOf: ({ label }) => label,
  shown: ["key", "label", "type", "kinds", "required", "default", "description"],
  columns: [
    textColumn("key", 10, true),
    textColumn("label", 12, true),
    { key: "type", width: 7, isOrdered: true, cell: ({ type }) => type },
    { key: "kinds", width: 18, cell: ({ kinds }) => kinds.map((kind) => kindWords(kind)[1]).join(", ") },
    { key: "choices", width: 16, cell: ({ choices }) => <Text text={choices?.join(", ")} /> },
    { key: "required", width: 7, isOrdered: true, cell: ({ required }) => (required ? listText.yes : "") },
    {
      key: "default",
      width: 10,
      cell: ({ default: value }) => <Text text={value === null || value === undefined ? "" : String(value)} />,
    },
    textColumn("description", 20),
    ...TIMES<CustomField>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/custom-fields", { query: { ...query, ...window } as QueryOf<"/api/v1/custom-fields"> }),
  views: [],
};

const markers: ListDefinition<Marker> = {
  kind: "marker",
  path: "markers",
  page: "/settings/markers",
  example: 'at > "-30d"',
  title: settingsText.tabs.markers,
  one: "marker",
  many: "markers",
  nothingYet: listText.addOne,
  order: "-at",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  shown: ["name", "at", "network_id", "description"],
  columns: [
    textColumn("name", 18, true),
    { key: "at", width: 11, isOrdered: true, cell: ({ at }) => <Instant instant={at} /> },
    {
      key: "network_id",
      width: 10,
      isOrdered: true,
      cell: ({ network_id }) => <Reference kind="network" id={network_id} />,
    },
    textColumn("description", 24),
    ...TIMES<Marker>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/markers", { query: { ...query, ...window } as QueryOf<"/api/v1/markers"> }),
  views: [],
};

const SETTINGS_LISTS = {
  networks: sealed(networks),
  tags: sealed(tags),
  "custom-fields": sealed(customFields),
  markers: sealed(markers),
} as const satisfies Record<string, AnyList>;

/** @param list the last part of its page's path */
export function settingsList(list: keyof typeof SETTINGS_LISTS) {
  return () => <ListPage key={list} list={SETTINGS_LISTS[list]} />;
}
