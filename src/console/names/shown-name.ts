// Display name of a record.

/** Digits from the end of an id, which distinguish it; its beginning is a timestamp. */
const ID_DIGITS = 8;

/**
 * First visible name, else the end of the id.
 * @param names in order of preference; null, undefined and invisible texts are skipped
 */
export function shownName(id: string, ...names: readonly (string | null | undefined)[]): string {
  return names.find((name) => name !== null && name !== undefined && isVisible(name)) ?? endOfId(id);
}

interface NamedInterface {
  readonly if_name?: string | null | undefined;
  readonly if_descr?: string | null | undefined;
  readonly if_index?: number | undefined;
}

/** `Gi1/0/7`; without a visible ifName, the ifDescr or `#10107`. */
export function interfaceName({ if_name, if_descr, if_index }: NamedInterface): string {
  return [if_name, if_descr].find((name) => name != null && isVisible(name)) ?? `#${if_index}`;
}

/** `…7f3a91c2`. */
export function endOfId(id: string): string {
  return `…${id.slice(-ID_DIGITS)}`;
}

/** As in the appliance: white space, format characters and default-ignorable code points are invisible. */
function isVisible(text: string): boolean {
  return /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}
