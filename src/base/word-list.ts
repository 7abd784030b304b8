// Lists of words written as one text.

type Words<Text extends string, Before extends readonly string[] = []> = Text extends `${infer Word} ${infer Rest}`
  ? Words<Rest, [...Before, Word]>
  : readonly [...Before, Text];

/** The words of a text, which single blanks separate, as a typed tuple. */
export function wordList<const Text extends string>(text: Text): Words<Text> {
  return text.split(" ") as unknown as Words<Text>;
}
