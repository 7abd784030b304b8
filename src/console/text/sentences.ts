// Words of transaction summaries, singular and plural. Field names as in lists.

import { kindWords } from "../kinds/kinds.ts";
import { groupedDigits } from "./digits.ts";
import { fieldLabel } from "./lists.ts";

/** Field names that keep their case within a sentence, since they start with an abbreviation. */
const isAbbreviation = (name: string) => /^[A-Z]{2}/.test(name);

const field = (name: string) => {
  const title = fieldLabel(name.replace(/^custom_fields\./, ""));
  return isAbbreviation(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
};

export const sentenceText = {
  number: groupedDigits,
  field,
  /** Kind by its API name. */
  kind: (type: string, count: number) => kindWords(type)[count === 1 ? 0 : 1],
  fresh: "new",
  gone: "gone",
  changed: "changed",
  notSeen: "no longer seen",
  seenAgain: "seen again",
  moved: " moved from ",
  went: " went from ",
  to: " to ",
  of: " of ",
  and: " and ",
  none: "none",
  yes: "yes",
  no: "no",
  more: (count: number) => `${groupedDigits(count)} more`,
  moreFields: (count: number) => `${groupedDigits(count)} more ${count === 1 ? "field" : "fields"}`,
  moreChanges: (count: number) => `${groupedDigits(count)} more ${count === 1 ? "change" : "changes"}`,
  operStates: {
    Up: "up",
    Down: "down",
    LowerLayerDown: "down, as what it stands on",
    NotPresent: "not present",
    Testing: "testing",
    Dormant: "dormant",
    Unknown: "of unknown status",
  } as Readonly<Record<string, string>>,
  adminStates: { Up: "enabled", Down: "disabled", Testing: "set to testing" } as Readonly<Record<string, string>>,
  /** @param what such as `3 more interfaces` */
  updated: (name: string | null, what: string) => {
    switch (name) {
      case null:
        return `${what} changed`;
      case "fdb_macs":
        return `MAC addresses at ${what}`;
      case "oper_status":
        return `${what} up or down`;
      case "admin_status":
        return `${what} enabled or disabled`;
      case "stale_since":
        return `${what} no longer seen, or seen again`;
      default:
        return `${field(name)} of ${what}`;
    }
  },
  expand: (sequence: number) => `What transaction ${sequence} changed`,
} as const;
