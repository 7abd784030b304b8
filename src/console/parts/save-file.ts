// A file for the reader to keep, of what the page has.

/** The browser has taken it over by the next turn, and some only then. */
const TAKEN_MS = 1_000;

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_MS);
}
