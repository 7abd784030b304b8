// Download of a file generated in the page.

/** Delay for browsers that read the object URL only in a later task. */
const REVOKE_DELAY_MS = 1_000;

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_DELAY_MS);
}
