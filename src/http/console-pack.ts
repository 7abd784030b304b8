// Console pack: a length-prefixed JSON index, then every file in each of its content codings. Written by the build,
// read here on demand. Independent of the contents of the console.

/** Path prefix of the files loaded by the page; their names contain a content hash. */
export const CONSOLE_ASSETS = "/console/";

/** Offset from the end of the index, and length, in bytes. */
type Slice = readonly [offset: number, length: number];

/** Precomputed codings in order of preference; `plain` is uncompressed. */
const CODINGS = ["plain", "brotli", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

interface FileMetadata {
  /** Name below CONSOLE_ASSETS; empty for the page itself. */
  readonly name: string;
  readonly type: string;
  /** Strong ETag of the plain bytes. */
  readonly tag: string;
}

export interface ConsoleIndex {
  /** Routes that return the page. */
  readonly pages: readonly string[];
  readonly files: readonly (FileMetadata & Readonly<Record<Coding, Slice>>)[];
}

/** A console file, read on demand. */
export interface ConsoleFile extends FileMetadata, Readonly<Record<Coding, Blob>> {}

/** @returns the bytes of a pack */
export function packConsole(
  pages: readonly string[],
  files: readonly (FileMetadata & Readonly<Record<Coding, Uint8Array>>)[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const addSlice = (bytes: Uint8Array): Slice => {
    parts.push(bytes);
    length += bytes.length;
    return [length - bytes.length, bytes.length];
  };
  const index: ConsoleIndex = {
    pages,
    files: files.map(({ name, type, tag, plain, brotli, gzip }) => ({
      name,
      type,
      tag,
      plain: addSlice(plain),
      brotli: addSlice(brotli),
      gzip: addSlice(gzip),
    })),
  };
  const text = new TextEncoder().encode(JSON.stringify(index));
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, text.length);
  return Buffer.concat([head, text, ...parts]);
}

/** Reads only the index. @returns the routes, and the files by name */
export async function readConsolePack(
  pack: Blob,
): Promise<{ readonly pages: readonly string[]; readonly files: ReadonlyMap<string, ConsoleFile> }> {
  const length = new DataView(await pack.slice(0, 4).arrayBuffer()).getUint32(0);
  const index = (await pack.slice(4, 4 + length).json()) as ConsoleIndex;
  const blobOf = ([offset, size]: Slice) => pack.slice(4 + length + offset, 4 + length + offset + size);
  return {
    pages: index.pages,
    files: new Map(
      index.files.map(({ name, type, tag, plain, brotli, gzip }) => [
        name,
        { name, type, tag, plain: blobOf(plain), brotli: blobOf(brotli), gzip: blobOf(gzip) },
      ]),
    ),
  };
}
