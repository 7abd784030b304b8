// Executable components in one embedded file: the bill of materials, and the license texts of each component. The same
// input produces the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { BillOfMaterials, ListedComponent, ProgramPart } from "../src/operations/bill-of-materials.ts";
import { licenseTexts, standardText } from "./license-texts.ts";
import { type BundleInputs, bundledPackages, folderOf, type SbomOptions, sbomOf } from "./sbom.ts";

/** Embedded file; found by its suffix at run time. */
export const BILL_OF_MATERIALS_FILE = join(resolve(import.meta.dir, ".."), "dist/components.bill");

interface Bundle {
  readonly part: Exclude<ProgramPart, "runtime">;
  readonly bundle: BundleInputs;
}

/** The CycloneDX fields in use. */
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
export function packBillOfMaterials(
  options: Omit<SbomOptions, "bundles">,
  bundles: readonly Bundle[],
): BillOfMaterials {
  const bom = sbomOf({ ...options, bundles: bundles.map(({ bundle }) => bundle) });
  const billOfMaterials = { bom, components: componentsOf(options.root, bom, bundles) };
  writeFileSync(BILL_OF_MATERIALS_FILE, brotliCompressSync(JSON.stringify(billOfMaterials)));
  return billOfMaterials;
}

/** Components in order: the program, then packages by name, then the runtime with its components. */
export function componentsOf(root: string, bom: string, bundles: readonly Bundle[]): ListedComponent[] {
  const { metadata, components } = JSON.parse(bom) as {
    metadata: { component: BomComponent };
    components: BomComponent[];
  };
  const keys = new Map(bundles.map(({ part, bundle }) => [part, bundledPackages([bundle])]));
  const folders = components.filter(({ type }) => type !== "platform").map((part) => folderOf(root, keyOf(part)));
  const program: ListedComponent = {
    ...describe(metadata.component),
    part_of: ["server", "console"],
    texts: [{ title: "LICENSE", text: readFileSync(join(root, "LICENSE"), "utf8").trim(), is_standard: false }],
  };
  const others = components.flatMap((component): ListedComponent[] => {
    if (component.type === "platform")
      return [component, ...(component.components ?? [])].map((part) => runtimeComponent(part, root));
    const parts = [...keys].filter(([, packages]) => packages.has(keyOf(component))).map(([part]) => part);
    const folder = folderOf(root, keyOf(component));
    return [
      {
        ...describe(component),
        // Packages in no bundle are read by macros of the server.
        part_of: parts.length === 0 ? ["server"] : parts,
        texts: licenseTexts({ folder, license: describe(component).licence, others: folders }, root),
      },
    ];
  });
  const rank = ({ part_of }: ListedComponent) => (part_of.includes("runtime") ? 1 : 0);
  return [program, ...others.toSorted((a, b) => rank(a) - rank(b))];
}

/** Describes the runtime or a part of it with the standard license text: its package includes no license file. */
function runtimeComponent(component: BomComponent, root: string): ListedComponent {
  const base = describe(component);
  return { ...base, part_of: ["runtime"], texts: standardText(base.licence, root) };
}

function describe({
  group,
  name,
  version,
  purl,
  licenses = [],
}: BomComponent): Omit<ListedComponent, "part_of" | "texts"> {
  const [terms] = licenses;
  return {
    name: group === undefined ? name : `${group}/${name}`,
    version,
    purl: purl ?? null,
    licence: terms?.expression ?? terms?.license?.id ?? terms?.license?.name ?? null,
  };
}

/** Key of a component's package in bun.lock. */
function keyOf({ group, name, "bom-ref": ref }: BomComponent): string {
  return ref.split("#")[1] ?? (group === undefined ? name : `${group}/${name}`);
}
