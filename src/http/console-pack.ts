// The console as one file: an index in JSON behind its length, then the bytes of every file in each of its codings. Made
// by the build, read here piece by piece. Knows nothing of what the console shows.

/** Where the files are that the page loads; their names carry a hash of what is in them. */
export const CONSOLE_ASSETS = "/console/";

/** Offset from the end of the index, and length; bytes. */
type Piece = readonly [offset: number, length: number];

/** The codings that are made ahead, in the order in which they are preferred; `plain` is none. */
const CODINGS = ["plain", "brotli", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

interface FileAbout {
  /** Below CONSOLE_ASSETS; empty for the page itself. */
  readonly name: string;
  readonly type: string;
  /** A strong entity tag of the plain bytes. */
  readonly tag: string;
}

export interface ConsoleIndex {
  /** Routes that are answered with the page. */
  readonly pages: readonly string[];
  readonly files: readonly (FileAbout & Readonly<Record<Coding, Piece>>)[];
}

/** One file of the console, its bytes still unread. */
export interface ConsoleFile extends FileAbout, Readonly<Record<Coding, Blob>> {}

/** @returns the bytes of a pack */
export function packConsole(
  pages: readonly string[],
  files: readonly (FileAbout & Readonly<Record<Coding, Uint8Array>>)[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const piece = (bytes: Uint8Array): Piece => {
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
      plain: piece(plain),
      brotli: piece(brotli),
      gzip: piece(gzip),
    })),
  };
  const text = new TextEncoder().encode(JSON.stringify(index));
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, text.length);
  return Buffer.concat([head, text, ...parts]);
}

/** Reads the index alone. @returns the routes, and the files by name */
export async function readConsolePack(
  pack: Blob,
): Promise<{ readonly pages: readonly string[]; readonly files: ReadonlyMap<string, ConsoleFile> }> {
  const length = new DataView(await pack.slice(0, 4).arrayBuffer()).getUint32(0);
  const index = (await pack.slice(4, 4 + length).json()) as ConsoleIndex;
  const blobOf = ([offset, size]: Piece) => pack.slice(4 + length + offset, 4 + length + offset + size);
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
