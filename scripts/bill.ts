// Components of the executable: the bill of materials, and each component with its licence texts, in one embedded file.
// The same input gives the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Bill, BillComponent, BillPart } from "../src/operations/bill.ts";
import { licenceTexts, standardText } from "./licence-texts.ts";
import { type BundleInputs, bundledPackages, folderOf, type SbomOptions, sbomOf } from "./sbom.ts";

/** Suffix by which it is found among the embedded files. */
export const BILL_FILE = join(resolve(import.meta.dir, ".."), "dist/components.bill");

interface Bundle {
  readonly part: Exclude<BillPart, "runtime">;
  readonly bundle: BundleInputs;
}

/** The fields of CycloneDX in use. */
interface BomComponent {
  readonly type: string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly "bom-ref": string;
  readonly purl?: string;
  readonly licenses?: ReadonlyArray<{ license?: { id?: string; name?: string }; expression?: string }>;
  readonly components?: readonly BomComponent[];
}

/** Writes the file. @returns its content */
export function packBill(options: Omit<SbomOptions, "bundles">, bundles: readonly Bundle[]): Bill {
  const bom = sbomOf({ ...options, bundles: bundles.map(({ bundle }) => bundle) });
  const bill = { bom, components: componentsOf(options.root, bom, bundles) };
  writeFileSync(BILL_FILE, brotliCompressSync(JSON.stringify(bill)));
  return bill;
}

/** The program first, then by name; the components of the runtime follow it. */
export function componentsOf(root: string, bom: string, bundles: readonly Bundle[]): BillComponent[] {
  const { metadata, components } = JSON.parse(bom) as {
    metadata: { component: BomComponent };
    components: BomComponent[];
  };
  const keys = new Map(bundles.map(({ part, bundle }) => [part, bundledPackages([bundle])]));
  const folders = components.filter(({ type }) => type !== "platform").map((each) => folderOf(root, keyOf(each)));
  const own: BillComponent = {
    ...told(metadata.component),
    part_of: ["server", "console"],
    texts: [{ title: "LICENSE", text: readFileSync(join(root, "LICENSE"), "utf8").trim(), is_standard: false }],
  };
  const others = components.flatMap((component): BillComponent[] => {
    if (component.type === "platform")
      return [component, ...(component.components ?? [])].map((each) => ofRuntime(each, root));
    const parts = [...keys].filter(([, packages]) => packages.has(keyOf(component))).map(([part]) => part);
    const folder = folderOf(root, keyOf(component));
    return [
      {
        ...told(component),
        // Packages read by macros belong to the server.
        part_of: parts.length === 0 ? ["server"] : parts,
        texts: licenceTexts({ folder, licence: told(component).licence, others: folders }, root),
      },
    ];
  });
  const rank = ({ part_of }: BillComponent) => (part_of.includes("runtime") ? 1 : 0);
  return [own, ...others.toSorted((a, b) => rank(a) - rank(b))];
}

/** Neither the runtime's package nor its components include a licence file. */
function ofRuntime(component: BomComponent, root: string): BillComponent {
  const about = told(component);
  return { ...about, part_of: ["runtime"], texts: standardText(about.licence, root) };
}

function told({ group, name, version, purl, licenses = [] }: BomComponent): Omit<BillComponent, "part_of" | "texts"> {
  const [terms] = licenses;
  return {
    name: group === undefined ? name : `${group}/${name}`,
    version,
    purl: purl ?? null,
    licence: terms?.expression ?? terms?.license?.id ?? terms?.license?.name ?? null,
  };
}

/** Key in bun.lock. */
function keyOf({ group, name, "bom-ref": ref }: BomComponent): string {
  return ref.split("#")[1] ?? (group === undefined ? name : `${group}/${name}`);
}
