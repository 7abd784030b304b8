// Parser for record numbers from SQLite's group_concat. There may be a million; separate rows would take a hundred
// times the memory.

/** @param text comma-separated decimal numbers in ASCII; null for none */
export function numbersIn(text: Uint8Array | null): Uint32Array {
  if (text === null) return new Uint32Array(0);
  let count = 1;
  for (const code of text) if (code === COMMA) count += 1;
  const numbers = new Uint32Array(count);
  let index = 0;
  let number = 0;
  for (const code of text) {
    if (code === COMMA) {
      numbers[index] = number;
      index += 1;
      number = 0;
    } else number = number * 10 + code - DIGIT_0;
  }
  numbers[index] = number;
  return numbers;
}

const COMMA = 0x2c;
const DIGIT_0 = 0x30;
