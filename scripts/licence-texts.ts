// The texts that the licence of a package asks to be passed on with it: its own files, else what its README has, else
// those of another package of the same repository, else the standard text of the licence (SPDX).

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LicenceText } from "../src/operations/bill.ts";

const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyrightnotice)\b/i;
const README = /^readme\.md$/i;
/** What a README that only names the licence does not have. */
const IS_WHOLE = /permission is hereby granted|redistribution and use|licensed under the apache license/i;

interface Terms {
  /** The package, absolute. */
  readonly folder: string;
  /** An SPDX id; null where it is none. */
  readonly licence: string | null;
  /** Folders of other packages that are installed. */
  readonly others: readonly string[];
}

/** None where nothing is known. */
export function licenceTexts({ folder, licence, others }: Terms, root: string): LicenceText[] {
  const own = filesIn(folder);
  if (own.length > 0) return own;
  const told = readmeSection(folder);
  if (told !== null) return [{ title: "README", text: told, is_standard: false }];
  const repository = repositoryOf(folder);
  const sibling = others.find(
    (other) => repository !== null && repositoryOf(other) === repository && filesIn(other).length > 0,
  );
  if (sibling !== undefined) return filesIn(sibling);
  return standardText(licence, root);
}

/** What SPDX has of a licence. */
export function standardText(licence: string | null, root: string): LicenceText[] {
  if (licence === null) return [];
  const file = join(root, "node_modules/spdx-license-list/licenses", `${licence}.json`);
  if (!existsSync(file)) return [];
  const { licenseText } = JSON.parse(readFileSync(file, "utf8")) as { licenseText: string };
  return [{ title: licence, text: licenseText.trim(), is_standard: true }];
}

function filesIn(folder: string): LicenceText[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((title) => ({ title, text: readFileSync(join(folder, title), "utf8").trim(), is_standard: false }));
}

/** From a heading that says "License" to the next one. */
function readmeSection(folder: string): string | null {
  const name = readdirSync(folder).find((each) => README.test(each));
  if (name === undefined) return null;
  const section = /^#+ *licen[cs]e *\n(?<text>[\s\S]*?)(?=^#|(?![\s\S]))/im.exec(
    readFileSync(join(folder, name), "utf8"),
  );
  const text = section?.groups?.text?.trim() ?? "";
  return IS_WHOLE.test(text) ? text : null;
}

function repositoryOf(folder: string): string | null {
  const { repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    repository?: string | { url?: string };
  };
  return (typeof repository === "string" ? repository : repository?.url) ?? null;
}
