// What the executable is made of, as it is embedded: the bill of materials as it was written, and each component with
// the texts of its licence. Made by the build; unpacked when someone asks for it.

import { brotliDecompressSync } from "node:zlib";

/** Where a component is: in the server's program, in the console's, or in the Bun that carries both. */
export const BILL_PARTS = ["server", "console", "runtime"] as const;
export type BillPart = (typeof BILL_PARTS)[number];

export interface LicenceText {
  /** The name of the file, or the licence where it is the standard text. */
  readonly title: string;
  readonly text: string;
  /** Whether it is what SPDX has of the licence, because the component brings none. */
  readonly is_standard: boolean;
}

/** As it stands on the wire. */
export interface BillComponent {
  readonly name: string;
  readonly version: string;
  readonly purl: string | null;
  /** An SPDX id or expression; null where it has several, or none is known. */
  readonly licence: string | null;
  readonly part_of: readonly BillPart[];
  readonly texts: readonly LicenceText[];
}

export interface Bill {
  /** CycloneDX 1.6, JSON. */
  readonly bom: string;
  readonly components: readonly BillComponent[];
}

/** The one that is part of the executable; null where this does not run from one. */
export async function embeddedBill(): Promise<Bill | null> {
  const file = Bun.embeddedFiles.find((each) => "name" in each && String(each.name).endsWith(".bill"));
  if (file === undefined) return null;
  return JSON.parse(brotliDecompressSync(await file.bytes()).toString()) as Bill;
}
