// Test files of a commit: their imports, need for the executable or a browser, and similarity to a file of src/.

import { dirname, join } from "node:path";
import ts from "typescript-5";
import type { Fault, Sources } from "./patch.ts";

export interface TestFile {
  readonly path: string;
  /** Whether the tests run in the runner's process, so that coverage includes them. */
  readonly isInProcess: boolean;
  /** Whether the file needs the machine to itself. */
  readonly isAlone: boolean;
  /** All files of the repository that the file loads, including indirect imports. */
  readonly loads: ReadonlySet<string>;
}

/** Test files that load one of these start the executable or a browser. */
const EXTERNAL = ["test/support/executable/executable.ts", "playwright-core"];
/** Directories of tests that start the executable. */
const EXECUTABLE_TEST_FOLDERS = ["test/system/", "test/proof/"];

/** Weight of a word in a path, which says more about a file's subject than a word in its text. */
const PATH_WEIGHT = 8;

/** Finds the test files of a commit. @param sources content of src, test and scripts */
export function testFilesOf(sources: Sources): TestFile[] {
  const imports = new Map<string, string[]>();
  const importsOf = (path: string): string[] => {
    const cached = imports.get(path);
    if (cached !== undefined) return cached;
    const found = ts
      .preProcessFile(sources.get(path) ?? "", true, true)
      .importedFiles.map(({ fileName }) => (fileName.startsWith(".") ? join(dirname(path), fileName) : fileName));
    imports.set(path, found);
    return found;
  };
  return [...sources.keys()]
    .filter((path) => /^test\/.*\.test\.tsx?$/.test(path))
    .sort()
    .map((path) => {
      const loads = new Set([path]);
      for (const loaded of loads) for (const imported of importsOf(loaded)) loads.add(imported);
      const isExternal =
        EXTERNAL.some((file) => loads.has(file)) || EXECUTABLE_TEST_FOLDERS.some((folder) => path.startsWith(folder));
      return { path, isInProcess: !isExternal, isAlone: /\.(?:alone|all)\.test\.tsx?$/.test(path), loads };
    });
}

/**
 * Similarity of test files to the file of a fault, by shared words: rare ones count most, those in paths even more.
 * Only the order of the numbers is meaningful.
 */
export class Similarity {
  private readonly sources: Sources;
  private readonly files: readonly TestFile[];
  private readonly words = new Map<string, Set<string>>();
  private readonly frequency = new Map<string, number>();

  constructor(sources: Sources, files: readonly TestFile[]) {
    this.sources = sources;
    this.files = files;
    for (const { path } of files) {
      const found = new Set(wordsOf(sources.get(path) ?? ""));
      this.words.set(path, found);
      for (const word of found) this.frequency.set(word, (this.frequency.get(word) ?? 0) + 1);
    }
  }

  /** Ranks the test files for a fault. @returns numbers by path */
  ranks(fault: Pick<Fault, "file">): Map<string, number> {
    const pathWords = new Set(wordsOf(fault.file));
    const textWords = new Set(wordsOf(this.sources.get(fault.file) ?? ""));
    return new Map(
      this.files.map(({ path }) => {
        const testPath = new Set(wordsOf(path));
        const testText = this.words.get(path) ?? new Set();
        let rank = 0;
        for (const word of new Set([...pathWords, ...textWords])) {
          const rarity = Math.log((this.files.length + 1) / ((this.frequency.get(word) ?? 0) + 1));
          if (testPath.has(word)) rank += rarity * (pathWords.has(word) ? PATH_WEIGHT * PATH_WEIGHT : PATH_WEIGHT);
          else if (testText.has(word)) rank += rarity * (pathWords.has(word) ? PATH_WEIGHT : 1);
        }
        return [path, rank / Math.sqrt(testText.size + 1)];
      }),
    );
  }
}

/** Words of three letters or more, with camel case split, in lower case; plurals count as singulars. */
function wordsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]{2,}|[A-Z]{3,}/g) ?? [])
    .map((word) => word.toLowerCase().replace(/s$/, ""))
    .filter((word) => word.length > 2);
}
