// License texts to distribute with a package: from its own files, else from its README, another package of the same
// repository, or the standard SPDX text.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LicenseText } from "../src/operations/bill-of-materials.ts";

const LICENSE_FILE = /^(licen[cs]e|copying|notice|copyrightnotice)\b/i;
const README = /^readme\.md$/i;
/** Phrase of a full license text; absent from a README that only names the license. */
const FULL_TEXT = /permission is hereby granted|redistribution and use|licensed under the apache license/i;

interface Terms {
  /** Absolute path of the package. */
  readonly folder: string;
  /** SPDX id; null for other licenses. */
  readonly license: string | null;
  /** Directories of other installed packages. */
  readonly others: readonly string[];
}

/** Finds the license texts of a package; empty if there are none. */
export function licenseTexts({ folder, license, others }: Terms, root: string): LicenseText[] {
  const ownTexts = filesIn(folder);
  if (ownTexts.length > 0) return ownTexts;
  const readme = readmeSection(folder);
  if (readme !== null) return [{ title: "README", text: readme, is_standard: false }];
  const repository = repositoryOf(folder);
  const sibling = others.find(
    (other) => repository !== null && repositoryOf(other) === repository && filesIn(other).length > 0,
  );
  if (sibling !== undefined) return filesIn(sibling);
  return standardText(license, root);
}

/** Standard text of a license by its SPDX id; empty if there is none. */
export function standardText(license: string | null, root: string): LicenseText[] {
  if (license === null) return [];
  const file = join(root, "node_modules/spdx-license-list/licenses", `${license}.json`);
  if (!existsSync(file)) return [];
  const { licenseText } = JSON.parse(readFileSync(file, "utf8")) as { licenseText: string };
  return [{ title: license, text: licenseText.trim(), is_standard: true }];
}

function filesIn(folder: string): LicenseText[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((title) => ({ title, text: readFileSync(join(folder, title), "utf8").trim(), is_standard: false }));
}

/** Text below the heading "License", up to the next heading; null if it is not a full license text. */
function readmeSection(folder: string): string | null {
  const name = readdirSync(folder).find((file) => README.test(file));
  if (name === undefined) return null;
  const section = /^#+ *licen[cs]e *\n(?<text>[\s\S]*?)(?=^#|(?![\s\S]))/im.exec(
    readFileSync(join(folder, name), "utf8"),
  );
  const text = section?.groups?.text?.trim() ?? "";
  return FULL_TEXT.test(text) ? text : null;
}

function repositoryOf(folder: string): string | null {
  const { repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    repository?: string | { url?: string };
  };
  return (typeof repository === "string" ? repository : repository?.url) ?? null;
}
