// Software bill of materials of an executable (CycloneDX 1.6): the packages among the bundler's inputs, as in bun.lock.
// Independent of time and randomness: the same input produces the same bytes.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Enums, Models, Serialize, SPDX, Spec } from "@cyclonedx/cyclonedx-library";

/** The part of a bundler metafile in use. */
export interface BundleInputs {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >;
}

export interface SbomOptions {
  /** Absolute path of the checkout. */
  readonly root: string;
  readonly bundles: readonly BundleInputs[];
  /** npm package of the embedded Bun: `@oven/bun-linux-x64`. */
  readonly runtimePackage: string;
  /** Components of Bun: `process.versions`. */
  readonly runtimeVersions: Readonly<Record<string, string | undefined>>;
}

/** Packages whose data macros embed at build time: the bundler does not list them. */
const READ_BY_MACROS = ["oui-data"];

/** Components of Bun with their licenses, where known, by name in process.versions. */
const RUNTIME_PARTS: Readonly<Record<string, { readonly name: string; readonly license?: string }>> = {
  ares: { name: "c-ares", license: "MIT" },
  boringssl: { name: "boringssl" },
  icu: { name: "icu", license: "Unicode-3.0" },
  libarchive: { name: "libarchive" },
  libdeflate: { name: "libdeflate", license: "MIT" },
  llhttp: { name: "llhttp", license: "MIT" },
  lolhtml: { name: "lol-html", license: "BSD-3-Clause" },
  lshpack: { name: "ls-hpack", license: "MIT" },
  mimalloc: { name: "mimalloc", license: "MIT" },
  picohttpparser: { name: "picohttpparser", license: "MIT" },
  sqlite: { name: "sqlite", license: "blessing" },
  tinycc: { name: "tinycc", license: "LGPL-2.1-or-later" },
  usockets: { name: "uSockets", license: "Apache-2.0" },
  uwebsockets: { name: "uWebSockets", license: "Apache-2.0" },
  webkit: { name: "webkit", license: "LGPL-2.0-or-later" },
  zlib: { name: "zlib", license: "Zlib" },
  zstd: { name: "zstd", license: "BSD-3-Clause" },
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly description?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Generates the bill of materials as JSON text with a final newline.
 * @throws Error for an installed package that does not match bun.lock
 */
export function sbomOf({ root, bundles, runtimePackage, runtimeVersions }: SbomOptions): string {
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  const manifest = manifestIn(root);
  const bom = new Models.Bom();
  const program = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    version: manifest.version,
    bomRef: `${manifest.name}@${manifest.version}`,
  });
  if (manifest.description !== undefined) program.description = manifest.description;
  addLicense(program, manifest.license);
  bom.metadata.component = program;

  const components = new Map<string, Models.Component>();
  const keys = new Set([...bundledPackages(bundles), ...READ_BY_MACROS]);
  for (const key of [...keys].sort()) components.set(key, packageComponent(root, key, lock));
  for (const [key, component] of components) {
    bom.components.add(component);
    for (const name of dependenciesOf(manifestIn(folderOf(root, key)))) {
      const found = resolveDependency(key, name, components);
      if (found !== undefined) component.dependencies.add(found.bomRef);
    }
  }
  for (const name of dependenciesOf(manifest)) {
    const direct = components.get(name);
    if (direct !== undefined) program.dependencies.add(direct.bomRef);
  }
  const runtime = runtimeComponent(root, lock, runtimePackage, runtimeVersions);
  bom.components.add(runtime);
  program.dependencies.add(runtime.bomRef);

  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  const options = { sortLists: true, space: 2 };
  // The serial number is derived from the content, so that equal content gives equal bills.
  bom.serialNumber = `urn:uuid:${uuidOf(serializer.serialize(bom, options))}`;
  return `${serializer.serialize(bom, options)}\n`;
}

/** Finds the packages with bundled files. @returns their keys in bun.lock */
export function bundledPackages(bundles: readonly BundleInputs[]): Set<string> {
  return new Set(
    bundles
      .flatMap(({ outputs }) => Object.values(outputs))
      .flatMap(({ inputs }) =>
        Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? packageKey(path) : [])),
      ),
  );
}

/**
 * Key in bun.lock of the package that contains a file: `elysia/cookie` for node_modules/elysia/node_modules/cookie/…;
 * empty for our own files.
 */
function packageKey(path: string): string[] {
  const parts = path.split("/");
  const names: string[] = [];
  for (let index = parts.indexOf("node_modules"); index >= 0 && parts[index] === "node_modules"; ) {
    const length = parts[index + 1]?.startsWith("@") === true ? 2 : 1;
    names.push(parts.slice(index + 1, index + 1 + length).join("/"));
    index += 1 + length;
  }
  return names.length === 0 ? [] : [names.join("/")];
}

/** Splits a key into the names of nested packages. */
function namesIn(key: string): string[] {
  const names: string[] = [];
  const parts = key.split("/");
  for (let index = 0; index < parts.length; index += 1) {
    if (parts[index]?.startsWith("@") === true) {
      names.push(`${parts[index]}/${parts[index + 1]}`);
      index += 1;
    } else names.push(parts[index] as string);
  }
  return names;
}

/** Installation directory of a package in bun.lock. */
export function folderOf(root: string, key: string): string {
  return join(root, ...namesIn(key).flatMap((name) => ["node_modules", name]));
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function packageComponent(root: string, key: string, lock: string): Models.Component {
  const manifest = manifestIn(folderOf(root, key));
  const purl = purlOf(manifest.name, manifest.version);
  const bomRef = key === manifest.name ? purl : `${purl}#${key}`;
  const component = componentOf(Enums.ComponentType.Library, manifest, purl, bomRef);
  component.hashes.set(Enums.HashAlgorithm["SHA-512"], hashIn(lock, key, `${manifest.name}@${manifest.version}`));
  return component;
}

function runtimeComponent(
  root: string,
  lock: string,
  runtimePackage: string,
  versions: SbomOptions["runtimeVersions"],
): Models.Component {
  const { version, license } = manifestIn(folderOf(root, "bun"));
  const purl = purlOf(runtimePackage, version);
  const runtime = componentOf(Enums.ComponentType.Platform, { name: "bun", version, license }, purl);
  runtime.hashes.set(Enums.HashAlgorithm["SHA-512"], hashIn(lock, runtimePackage, `${runtimePackage}@${version}`));
  for (const [key, part] of Object.entries(RUNTIME_PARTS)) {
    const partVersion = versions[key];
    if (partVersion === undefined) continue;
    const generic = `pkg:generic/${part.name}@${partVersion}`;
    runtime.components.add(componentOf(Enums.ComponentType.Library, { ...part, version: partVersion }, generic));
  }
  return runtime;
}

function componentOf(
  type: Enums.ComponentType,
  { name, version, license: terms }: { name: string; version: string; license?: string | undefined },
  purl: string,
  bomRef = purl,
): Models.Component {
  const component = new Models.Component(type, name, { version, bomRef, purl: purl as never });
  addLicense(component, terms);
  return component;
}

/** Adds a license to a component. @param terms an SPDX id, an SPDX expression, or any other text, as in manifests */
function addLicense(component: Models.Component, terms: string | undefined): void {
  if (terms === undefined || terms === "") return;
  if (SPDX.isSupportedSpdxId(terms)) component.licenses.add(new Models.SpdxLicense(terms));
  else if (/ (OR|AND|WITH) /.test(terms)) component.licenses.add(new Models.LicenseExpression(terms));
  else component.licenses.add(new Models.NamedLicense(terms));
}

/** Checksum of a package in bun.lock, in hexadecimal. */
function hashIn(lock: string, key: string, identity: string): string {
  const line = lock.split("\n").find((text) => text.trimStart().startsWith(`"${key}": ["${identity}",`));
  const integrity = line?.match(/"sha512-([^"]+)"/)?.[1];
  if (integrity === undefined) throw new Error(`bun.lock does not list ${identity} as ${key}: reinstall the packages.`);
  return Buffer.from(integrity, "base64").toString("hex");
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function dependenciesOf(manifest: Manifest): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).sort();
}

/** Resolves the dependency of a package: its own copy, or the one in an enclosing directory. */
function resolveDependency(
  key: string,
  name: string,
  components: ReadonlyMap<string, Models.Component>,
): Models.Component | undefined {
  const parents = namesIn(key);
  for (let depth = parents.length; depth >= 0; depth -= 1) {
    const found = components.get([...parents.slice(0, depth), name].join("/"));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Derives a UUIDv8 from a string (RFC 9562 section 5.8). */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
