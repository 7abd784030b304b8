// Visible names of records and interfaces.

/** Number of digits shown from the end of an id; its beginning is a timestamp, so only the end is distinctive. */
const ID_DIGITS = 8;

/** First visible name, or else the end of the id. @param names in order of preference; invisible ones are skipped */
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

/** Shortened id: `…7f3a91c2`. */
export function endOfId(id: string): string {
  return `…${id.slice(-ID_DIGITS)}`;
}

/** Same rule as in the appliance: white space, format characters and default-ignorable code points are invisible. */
function isVisible(text: string): boolean {
  return /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}
